// Command orchestrate-supervise owns the process tree of one job at a time for
// orchestrate, which starts it and talks to it over descriptor 3. It is a program
// of its own so that it starts in a millisecond or two and outlives its engine.
package main

import (
	"fmt"
	"os"

	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

func main() {
	socket := os.NewFile(supervise.ControlFD, "control")
	err := supervise.Serve(socket, supervise.Options{Version: version.Version, Decoders: decoders.For})
	if err != nil {
		fmt.Fprintln(os.Stderr, "orchestrate-supervise:", err)
		os.Exit(1)
	}
}
