// Package custom makes a runtime of a description: of a program for which there is no
// adapter, only data that says how it is started, asked and read. Some descriptions
// come with this program (known.yaml); others are in the operator's configuration.
//
// What a description says is not evidence. Such a runtime is constrained at best, is
// never held to be more than its own answers show, and a flag that its help does not
// show is not used where the description says how to ask for the help.
package custom
