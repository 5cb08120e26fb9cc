package route

import (
	"errors"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// forgetful are the runtimes that cannot go on with a session.
func forgetful(names ...string) func(string, runtime.Request) error {
	return func(name string, req runtime.Request) error {
		for _, n := range names {
			if n == name && req.Resume != "" {
				return errors.New(name + " cannot be continued")
			}
		}
		return nil
	}
}

func TestASessionGoesOnWhereItBegan(t *testing.T) {
	in := input(func(in *Input) {
		in.Continues, in.ContinuesOf = &ledger.Route{Runtime: "editor", Model: "small", Access: "read"}, "job a"
		in.Builds, in.Operator.Runtimes = forgetful(), nil
	})
	r, block := Choose(in)
	if block != nil || r.Runtime != "editor" || r.Model != "small" || r.Why != "goes on with the session of job a, model small (its session)" || len(r.Candidates) != 1 {
		t.Errorf("%+v, blocked by %+v", r, block)
	}
}

// Whatever could be chosen, a job whose session another goes on with is given to nobody who
// cannot do that.
func TestOnlyWhoCanGoOnBeginsASessionThatIsGoneOnWith(t *testing.T) {
	in := input(func(in *Input) { in.Continued, in.Builds = "b", forgetful("editor") })
	if r, block := Choose(in); block != nil || r.Runtime != "boxed" {
		t.Errorf("%s, blocked by %+v", r.Runtime, block)
	}
	in.Job.Runtime = "editor"
	_, block := Choose(in)
	if block == nil || block.Reason != runtime.BlockedSession || !strings.Contains(block.Detail, "job b goes on with its session: editor cannot be continued") || !strings.Contains(block.NextStep, "job b") {
		t.Errorf("%+v", block)
	}
}

func TestWhatKeepsASessionFromGoingOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"the runtime cannot": {func(in *Input) { in.Builds = forgetful("editor") }, "editor cannot be continued"},
		"it would get more":  {writes, "begun with read access, and the job would have edit access"},
		"it is elsewhere":    {func(in *Input) { in.Continues.Isolation = InWorktree }, "at home in a worktree of its own, and the job would have to work in the shared checkout"},
		"it has to leave":    {func(in *Input) { in.Isolate = "beside job x" }, "at home in the shared checkout, and the job would have to work in a worktree of its own (beside job x)"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(func(in *Input) {
				in.Continues, in.Builds = &ledger.Route{Runtime: "editor", Access: "read", Isolation: InCheckout}, forgetful()
			})
			c.change(&in)
			_, block := Choose(in)
			if block == nil || block.Reason != runtime.BlockedSession || !strings.Contains(block.Detail, c.want) || block.NextStep == "" {
				t.Errorf("%+v", block)
			}
		})
	}
}
