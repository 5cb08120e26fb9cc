// Package codex is the adapter of the OpenAI Codex command line, `codex`.
//
// Its write boundary is its own kernel sandbox, which counts only after a
// self-test in this run through `codex sandbox`. The shell cannot be taken away
// from it; tool servers of the user's configuration, which would run outside the
// sandbox, and hooks and configuration of the project are switched off by name.
package codex
