// Package copilot is the adapter of the GitHub Copilot command line, `copilot`.
// Flags are taken from its help; sign-in from its agent protocol, since it has no
// status command.
//
// What bounds a job is the list of tools that the model gets at all, the kinds of
// permission that are given beforehand, and the program's own check of paths: what
// would need a person's approval is refused. That is no kernel boundary. Hooks and
// tool servers of a project run only where the user has trusted its folder.
package copilot
