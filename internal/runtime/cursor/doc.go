// Package cursor is the adapter of Cursor's agent for the command line, the `agent`
// command, which is also installed as `cursor-agent`. It was built from public
// documentation and published output of the program and has run no job yet. So a
// program on this machine has to show for itself, before it gets one, that it is
// Cursor's, that it is signed in, and that its help has the flags and the words on
// which a command rests; see Probe.
//
// Jobs may only read, in the mode that the program's help calls read-only. Without a
// terminal the program trusts its folder or refuses to start, and hooks of a trusted
// folder are programs; so a folder that brings some is refused.
package cursor
