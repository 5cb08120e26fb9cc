// Package pi is the adapter of pi, the `pi` command. Flags are taken from its help,
// models and the default one from its RPC mode, and sign-in from its status
// command, which prints no secret.
//
// The program has no permission system: it runs every tool it offers, and none of
// them is kept in the working folder. What limits a job is the list of tools. One
// that is not on it cannot be called: a model that calls it all the same is told that
// there is no such tool. Extensions, which are code in the same process, are left
// out, and so are the project's own files, with two exceptions that the program
// makes: a project may say where sessions are kept, so every job says it itself, and
// a folder of an old layout is renamed at the start, so no job is given where one is.
package pi
