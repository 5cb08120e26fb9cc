// Package handoff has the files by which a job goes to the hosting session's own agents
// and comes back: request.json (the engine's), lease.json (who has it), submission.json
// and result.md (what came back). Whoever writes one of them does so atomically, in the
// directory of the job's newest attempt; leases and submissions are written under the
// run's handoff lock, so that two callers never hold one request. Only the engine's
// journal moves a job: these files are what it reads.
package handoff
