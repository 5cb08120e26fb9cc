// Package opencode is the adapter of opencode and of kilo, a fork that has the
// same commands, streams and settings under a name of its own.
//
// It has no sandbox. What holds a job is a permission table that is given to it
// whole in an environment variable: everything that is not named is refused, and
// a refused tool is not even offered. The table counts only where the program's
// own agent list, asked with that table, shows that nothing in the user's
// configuration undoes it. The project's configuration, which may load code, start
// tool servers and give agents permissions of their own, counts as kept out only
// when a project file laid before the program is not taken up; otherwise no job
// runs. Plugins of a project are loaded all the same, by a second reader of its
// configuration: where there is one, a job runs only if the operator lets it in.
//
// The program takes the whole git checkout for the place where it may edit, and
// follows links by name only. So edits are bounded by a rule for the job's folder,
// and refused where a link leads out of it.
//
// The stream does not say which model answered, so the observed model stays
// unknown. An unknown agent is replaced by the default one with a mere notice,
// which the decoder takes for the failure it is.
package opencode
