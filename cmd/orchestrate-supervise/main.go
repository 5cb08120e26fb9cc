// Command orchestrate-supervise owns the process tree of one job at a time for
// orchestrate, which starts it and talks to it over descriptor 3. It is a program
// of its own so that it starts in a millisecond or two and outlives its engine.
package main

import (
	"fmt"
	"os"

	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

func main() {
	if len(os.Args) > 1 && sandbox.Hidden(os.Args[1]) {
		os.Exit(sandbox.Main(os.Args[1:]))
	}
	socket := os.NewFile(supervise.ControlFD, "control")
	err := supervise.Serve(socket, supervise.Options{Version: version.Version, Decoders: decoders.For})
	if err != nil {
		fmt.Fprintln(os.Stderr, "orchestrate-supervise:", err)
		os.Exit(1)
	}
}
