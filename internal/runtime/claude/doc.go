// Package claude is the adapter of Claude Code, the `claude` command. Everything
// it uses is taken from what the installed program shows: flags from its help,
// sign-in from its status command, models and agents from its control protocol.
//
// Permission rules are no kernel boundary: what makes a job read-only or
// edits-only is that no other tool is offered at all and that no settings file,
// hook or tool server is loaded. A job with a shell is not confined.
package claude
