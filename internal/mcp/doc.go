// Package mcp is the front door for hosting sessions: a server of the Model Context
// Protocol on standard input and output. Its tools do what the commands of the same names
// do, by the same code: each calls its command and makes of what that printed what a
// model needs next.
package mcp
