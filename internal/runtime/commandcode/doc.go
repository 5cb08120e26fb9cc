// Package commandcode is the adapter of Command Code, the `cmd` command, which npm
// also installs as `command-code`. Flags are taken from its help, sign-in from its
// status command.
//
// Its print mode refuses edits and the shell, but only to the main agent: an agent
// that it starts in turn writes and runs commands unasked, and in plan mode what
// passes for a command that only reads can still write. So what holds a job is a
// file of ours, loaded with --mod: it takes every tool away that was not granted,
// the one that starts agents among them. The program goes on without a file that it
// could not load. Therefore the file tells on standard output that it holds, and an
// attempt that begins without that line is ended.
//
// Jobs may read only. Edits would need all permission checks switched off.
package commandcode
