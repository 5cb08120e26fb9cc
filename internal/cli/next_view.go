package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/shellword"
	"orchestrate/internal/untrusted"
)

// print prints an offer as JSON.
func (n *taker) print(o engine.Offer, standing string) error {
	doc := handoff.Handout{
		SchemaVersion: ledger.SchemaVersion, RunID: o.State.RunID, RunDir: n.f.run.Dir, Standing: standing, Others: []handoff.Other{},
	}
	if standing == report.Ended {
		doc.ExitStatus = o.State.ExitStatus
	}
	for _, a := range o.Away {
		if o.Taken == nil || a.Request.Attempt != o.Taken.Request.Attempt {
			doc.Others = append(doc.Others, handoff.OtherOf(a, n.sys.Now()))
		}
	}
	if o.Taken != nil {
		doc.Request, doc.Lease = &o.Taken.Request, o.Taken.Lease
	}
	if err := printJSON(n.sys.Out, doc); err != nil {
		return failure(err)
	}
	return nil
}

// handOut prints the job that was taken.
func (n *taker) handOut(o engine.Offer) error {
	if n.opts.json {
		stands := report.Running
		if o.State.Phase == ledger.PhaseAwaiting {
			stands = report.Awaiting
		}
		return n.print(o, stands)
	}
	if _, err := io.WriteString(forReader(n.sys.Out), readable(o.Taken.Request, *o.Taken.Lease, n.f.name())); err != nil {
		return failure(err)
	}
	return nil
}

// readable is a request for people, and for agents that read no JSON.
func readable(r handoff.Request, l handoff.Lease, name string) string {
	var b strings.Builder
	line := func(word, format string, args ...any) {
		fmt.Fprintf(&b, "%s: %s\n", word, untrusted.From(fmt.Sprintf(format, args...)).Line(0))
	}
	line("job", "%s (%s), attempt %d of run %s", r.Job, r.Task, r.N, r.RunID)
	line("attempt", "%s", r.Attempt)
	line("yours until", "%s", l.Until.Local().Format("2006-01-02 15:04:05 MST"))
	line("agent", "%s", cmp.Or(r.Agent, "any that can do it"))
	line("works in", "%s", r.Cwd)
	line("may write", "%s", cmp.Or(strings.Join(r.MayWrite, ", "), "nothing: it only observes"))
	if len(r.Outputs) > 0 {
		into := r.Out
		if r.Writes() {
			into = r.Cwd
		}
		line("leaves", "%s in %s", strings.Join(r.Outputs, ", "), into)
	}
	if r.AllowedTools != nil {
		line("tools", "only %s", strings.Join(r.AllowedTools, ", "))
	}
	if len(r.DisallowedTools) > 0 {
		line("not these tools", "%s", strings.Join(r.DisallowedTools, ", "))
	}
	for _, c := range r.Constrained {
		line("not held", "%s", c)
	}
	submit := handoff.SubmitCommand(shellword.Quote(name), r.Job, r.Attempt)
	line("hand it in", "%s", submit)
	line("if it cannot be done", "%s", strings.TrimSuffix(submit, "--result FILE")+`--failed "why"`)
	fmt.Fprintf(&b, "\nthe prompt, for the agent as it is (%s):\n\n%s\n", r.PromptFile, strings.TrimRight(r.Prompt, "\n"))
	return b.String()
}
