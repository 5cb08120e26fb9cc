// Package script is the stand-in program: the hidden subcommand `standin`.
//
// It reads the prompt from its standard input, plays the steps that its script
// has for the job and prints one JSON object per line. Without a script it plays
// a sensible rehearsal: a writer leaves one small file where it may write, declared
// outputs appear, and the arbiter passes what it was asked about.
//
// A script is a YAML file; an unknown key is an error:
//
//	version: 1
//	checks:                  # results of checks that are not to be run for real
//	  fix: {unit: pass}      # job, check name: pass | fail
//	jobs:
//	  scout:                 # a job's id, or arbiter
//	    - say: looking around
//	    - answer: two findings
//
// Each step has one of these keys, and may have `attempt: N` to be played in that
// attempt only:
//
//	say: TEXT                             something the agent says
//	write: {path: P, content: TEXT}       also makes the folders of P
//	append: {path: P, content: TEXT}
//	delete: P
//	read: P                               says what the file holds
//	tool: {name: N, input: TEXT}          a tool use that succeeds
//	deny: {tool: N, boundary: TEXT}       a refused tool use; ends the attempt
//	sleep: 2s
//	wait_for: P                           until that file exists
//	stderr: TEXT                          a line on standard error
//	spawn: {sleep: 10m, lock: P}          a child in a session of its own, which
//	                                      holds a lock on the file P while it lives
//	model: NAME                           the model that is said to answer
//	usage: {input: N, output: N, usd: X}
//	error: {reason: R, text: T, retry_after: 5s}   completion with the error flag
//	exit: N                               the exit status, at the end
//	answer: TEXT                          the final answer; "" = an empty one
//	verdict: {overall: fail}              the arbiter's answer: one that passes all,
//	                                      but for the keys given here
//	no_completion: true                   ends without its completion event
//
// Paths are relative to the working folder; $ORCHESTRATE_OUT at the start of a
// path is the artifacts folder. A path may lead anywhere: faults are what
// rehearsals are for.
package script
