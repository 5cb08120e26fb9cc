// Package gemini is the adapter of Gemini CLI, the `gemini` command. Everything it
// uses is taken from what the installed program shows: flags from its help, the
// sign-in from its own start-up check, models from its protocol for editors.
//
// Approval modes are no boundary: without a terminal the program lets the model
// enter plan mode and leave it again, and whoever leaves it is in the mode that
// approves everything, a shell included. What bounds a job is a policy file of the
// highest rank, made for that job, which takes every other tool out of the agent's
// list. A job with a shell is not confined.
package gemini
