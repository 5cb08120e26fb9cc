package route

import (
	"cmp"

	"orchestrate/internal/runtime"
)

// A job that goes on with another one's session has no choice: the session is at home in one
// runtime, with one model, in one folder, and what it may do was settled when it began.

// goneOnWith is the one option of a job that goes on with a session.
func (in Input) goneOnWith() *option {
	o := in.option(in.Continues.Runtime, 0)
	o.model, o.modelBy = in.Continues.Model, ""
	if o.model != "" {
		o.modelBy = "its session"
	}
	return o
}

// checkSessions holds the option against what sessions need: its own one that is to be gone
// on with, and the one that it goes on with itself.
func (in Input) checkSessions(o *option) {
	if in.Continued != "" {
		in.checkContinued(o)
	}
	if in.Continues != nil {
		in.checkContinues(o)
	}
}

// checkContinued: a runtime that cannot go on with a session is no choice for a job whose
// session another one goes on with.
func (in Input) checkContinued(o *option) {
	if why := in.cannotResume(o); why != "" {
		o.fail(runtime.BlockedSession, "name a runtime that can go on with a session, or take `continue` out of job "+in.Continued,
			"job %s goes on with its session: %s", in.Continued, why)
	}
}

func (in Input) checkContinues(o *option) {
	from := in.Continues
	if why := in.cannotResume(o); why != "" {
		o.fail(runtime.BlockedSession, "let the job begin a session of its own, and give it what the other one found as an input", "%s", why)
	}
	if wider(o.access, runtime.Access(from.Access)) {
		o.fail(runtime.BlockedSession, "let the job begin a session of its own, or give the first one the same effect and tools",
			"its session was begun with %s access, and the job would have %s access: a session never gets more than it began with", from.Access, o.access)
	}
	if o.isolation != cmp.Or(from.Isolation, InCheckout) {
		o.fail(runtime.BlockedSession, "say `isolation: "+o.isolation+"` for the job that begins the session",
			"its session is at home %s, and the job would have to work %s (%s)", home(from.Isolation), home(o.isolation), cmp.Or(o.isolationWhy, "nothing isolates it"))
	}
}

// cannotResume says why the option's runtime cannot go on with a session, "" = it can.
func (in Input) cannotResume(o *option) string {
	switch {
	case o.hosted():
		return "an agent of the hosting session has no session that this program could go on with"
	case in.Builds == nil || o.buildErr != "" || o.against(critPins) != "": // it would say that again
		return ""
	}
	req := in.request(o)
	req.Resume = in.sessionID()
	if err := in.Builds(o.name, req); err != nil {
		return err.Error()
	}
	return ""
}

// sessionID is the session that the job goes on with where its id is known, else any.
func (in Input) sessionID() string {
	if in.Continues != nil && in.Job.Continue == "" && in.Job.Worker != nil && in.Job.Worker.Resumes != nil {
		return in.Job.Worker.Resumes.Session
	}
	return runtime.AnySession
}

// home names the place of an isolation.
func home(isolation string) string {
	if isolation == InWorktree {
		return "in a worktree of its own"
	}
	return "in the shared checkout"
}
