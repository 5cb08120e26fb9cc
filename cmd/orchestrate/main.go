// Command orchestrate runs a graph of jobs on coding agents.
package main

import (
	"os"

	"orchestrate/internal/cli"
)

func main() { os.Exit(cli.OS()) }
