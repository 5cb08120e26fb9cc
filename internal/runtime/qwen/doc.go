// Package qwen is the adapter of Qwen Code, the `qwen` command. Flags are taken
// from its help; sign-in and models from its agent protocol, since it has no
// status command.
//
// What keeps a job from writing is that nobody answers when the program asks:
// without a terminal it refuses what its approval mode does not approve, and the
// tools concerned are not even offered. No rule of its settings files can approve
// them in its safe mode. That is no kernel boundary, and nothing shows that edits
// which are approved stay inside the working folder.
package qwen
