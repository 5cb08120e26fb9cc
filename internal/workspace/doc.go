// Package workspace is the only room that runs git. It resolves a base, makes
// worktrees, captures what a writer did as a patch and a snapshot commit, and
// fingerprints a checkout so that a change by somebody else can be told.
//
// Files below a worktree belong to an agent and are never trusted: every call
// names the git directory and the work tree itself, and the user's hooks,
// fsmonitor, filters, text conversions, editors, prompts, signing and identity
// play no part. Two things follow that a user may notice. Filter drivers (git
// LFS, git-crypt) are off, so a worktree holds what is stored in git, such as
// LFS pointers. And nothing is fetched, so submodules are filled from objects that are
// here, and in a partial clone a file that is not there yet is an error. What a
// repository is asked for, so that a job is refused before it meets one of these, is in
// filters.go, submodule.go, partial.go and lacking.go.
package workspace
