package mcp

import (
	"context"
	"slices"
)

// Host is the program of whose commands the tools are made.
type Host struct {
	Version string
	Cwd     string // of the server: what a tool works in where nothing else is said
	// Root is the workspace of a folder: where its runs are.
	Root func(cwd string) string
	// Call carries a command line out and returns when it has ended, soon after ctx has.
	Call func(ctx context.Context, c Command) Outcome
	// Approve resumes a run and puts each question of its engine to ask. It returns when
	// nothing is left to ask; the run goes on.
	Approve func(ctx context.Context, cwd, run string, ask Ask) Outcome
	// Checked returns an error that names what in a text that is to be written down in the
	// workspace of cwd is a secret or looks like one, never its value.
	Checked func(cwd, text string) error
}

// Command is one command line.
type Command struct {
	Args []string // the command's name and flags
	Of   []string // its operands: what a client said, and never a flag
	Cwd  string
	In   string // its standard input
	// Each gets each line of its standard output as it comes; nil = all is in the Outcome.
	Each func(line []byte)
}

// Line is the whole command line without the program's name.
func (c Command) Line() []string { return slices.Concat(c.Args, []string{"--"}, c.Of) }

// Outcome is what came of a command.
type Outcome struct {
	Exit int
	Out  string // standard output
	Err  string // standard error
}

// Ask shows the user what they would be approving.
type Ask func(ctx context.Context, shown string) Answer

// Answer is what the user made of a question; the zero Answer says that nobody was asked.
type Answer struct{ Asked, Yes bool }
