package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrate/internal/engine"
	"orchestrate/internal/inventory"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/runtime/standin"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

// offered bounds a smoke call before a run.
const offered = 2 * time.Minute

// offer asks, before an engine starts, the runtimes that the spec names; and where no
// answer of theirs shows whether they are signed in, it asks the person at the terminal
// whether a model call may. It returns what it learned. Without a terminal of a person, or where a
// program reads what is printed, nobody is asked anything, and nothing is learned.
func offer(ctx context.Context, sys System, opts runOptions) ([]runtime.Profile, error) {
	if opts.rehearse || opts.unattended() {
		return nil, nil
	}
	tty, _ := attended(sys)
	if tty == nil {
		return nil, nil
	}
	defer tty.Close()
	st, err := sys.station()
	if err != nil {
		return nil, err
	}
	brakes, done := stoppable(ctx, sys)
	defer done()
	found := learn(brakes.work, sys, st, opts, tty)
	if err := st.close(); err != nil {
		return nil, failure(err)
	}
	if brakes.work.Err() != nil {
		sayNothingBegun(sys)
		return nil, exit(exitInterrupted)
	}
	return found, nil
}

// learn asks the runtimes that the spec names, and the person where they cannot say.
func learn(ctx context.Context, sys System, st *station, opts runOptions, tty io.ReadWriter) []runtime.Profile {
	plan, diags, err := st.Read(ctx, opts.request(sys))
	if err != nil || len(diags) > 0 {
		return nil // the engine finds the same and says it in full
	}
	var named []runtime.Adapter
	for _, a := range st.Adapters {
		if isProgram(a.Name()) && names(plan, a.Name()) {
			named = append(named, a)
		}
	}
	if len(named) == 0 {
		return nil
	}
	sayAsking(sys)
	inv := inventory.Prober{Begun: tellSlow(sys)}.Probe(ctx, st.host, named)
	answers := bufio.NewReader(tty)
	for i, p := range inv.Profiles {
		p = policy.Judged(p, st.Operator)
		if ctx.Err() != nil || !signInUnknown(p) || !agrees(ctx, tty, answers, question(p)) {
			continue
		}
		s := smokeCall(ctx, sys, st, p, offered)
		s.show(sys.Err)
		inv.Profiles[i] = s.profile(p)
	}
	return inv.Profiles
}

// isProgram reports whether a runtime is a program that can be asked something: the others
// answer for themselves, at once.
func isProgram(name string) bool { return name != exec.Name && name != standin.Name }

// tellSlow tells of probes that take their time, as it is done of those of an engine.
func tellSlow(sys System) func(runtime string) (over func()) {
	lines := ui.NewLines(sys.Err)
	tell := func(name string, done bool) {
		r := ledger.Under("", ledger.StepProbe, name, done)
		r.At = sys.Now()
		lines.Record(r)
	}
	return func(name string) (over func()) {
		tell(name, false)
		return func() { tell(name, true) }
	}
}

// names reports whether a spec wants this very runtime.
func names(p *engine.Plan, runtime string) bool {
	if p.Spec.Arbiter.Runtime == runtime {
		return true
	}
	for _, j := range p.Jobs {
		if j.Job.Runtime == runtime {
			return true
		}
		for _, f := range j.Job.Fallbacks {
			if f.Runtime == runtime {
				return true
			}
		}
	}
	return false
}

func question(p runtime.Profile) string {
	why := p.Reason
	if why == "" {
		why = strings.Join(p.Limits, "; ")
	}
	return fmt.Sprintf("%s is %s: %s.\nA small real model call would show whether it is signed in; it costs what such a call costs. Make it? [y/N] ",
		p.Runtime, p.State, untrusted.From(why).Line(300))
}

// agrees puts a question to the person. Only a clear yes is one.
func agrees(ctx context.Context, out io.Writer, in *bufio.Reader, question string) bool {
	if _, err := io.WriteString(out, question); err != nil {
		return false
	}
	line := make(chan string, 1)
	go func() {
		text, _ := in.ReadString('\n') // what came before a hang-up is no yes
		line <- text
	}()
	select {
	case <-ctx.Done():
		return false
	case text := <-line:
		return agreed(text)
	}
}
