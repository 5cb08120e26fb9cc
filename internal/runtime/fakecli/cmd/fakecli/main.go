// Command fakecli is the fake of package fakecli, to be linked or copied under the
// name of the CLI that it is to be.
package main

import (
	"os"

	"orchestrate/internal/runtime/fakecli"
)

func main() {
	os.Exit(fakecli.Main(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
