// Hello is the least a Go program does: start and end. Start-up figures are told
// beside it.
package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
