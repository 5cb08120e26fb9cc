// Hello is the least a Go program does: start and end. Start-up figures are told
// beside it.
package main

import "os"

func main() {
	if _, err := os.Stdout.WriteString("hello\n"); err != nil {
		os.Exit(1)
	}
}
