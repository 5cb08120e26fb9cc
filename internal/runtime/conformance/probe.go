package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
)

// probeWorks: what works is routable, and everything claimed has its evidence.
func probeWorks(t *testing.T, s Subject) []string {
	host := s.Machine(t)
	p, err := probed(s, host, asRecorded)
	if err != nil {
		return []string{err.Error()}
	}
	asked := host.Asked
	faults := unsettled(p)
	note := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	note(!p.Routable(), "not routable: %s", p.Reason)
	note(p.Runtime != s.Adapter.Name(), "the profile is of %q", p.Runtime)
	note(p.Version == "" || len(p.Evidence) == 0, "version %q, %d pieces of evidence", p.Version, len(p.Evidence))
	note(p.Family != "" && p.FamilySource == "", "family %q without a source", p.Family)
	note(p.SignedIn != nil && !*p.SignedIn, "signed out")
	for _, q := range asked {
		note(!q.Bare && (isHelp(q) || slices.Contains(q.Argv, "--version")), "%q gets the person's keys before it has shown who it is", q.Argv)
	}
	seen := map[runtime.ControlName]bool{}
	for _, c := range p.Controls {
		note(c.Evidence == "", "control %q has no evidence", c.Name)
		note(seen[c.Name], "control %q is there twice", c.Name)
		seen[c.Name] = true
	}
	return append(faults, oddModels(p)...)
}

func oddModels(p runtime.Profile) (faults []string) {
	ids, defaults := map[string]bool{}, 0
	for _, m := range p.Models {
		if m.ID == "" || ids[m.ID] {
			faults = append(faults, fmt.Sprintf("model %q is listed twice or has no name", m.ID))
		}
		ids[m.ID] = true
		if m.Default {
			defaults++
		}
	}
	if defaults > 1 {
		faults = append(faults, fmt.Sprintf("%d default models", defaults))
	}
	return faults
}

// probeMissing: what is not there is not asked.
func probeMissing(t *testing.T, s Subject) []string {
	host := s.Machine(t)
	host.Missing = true
	p, err := probed(s, host, asRecorded)
	if err != nil {
		return []string{err.Error()}
	}
	faults := unsettled(p)
	if p.State != runtime.StateUnavailable || p.Executable != nil || len(host.Asked) > 0 {
		faults = append(faults, fmt.Sprintf("state %q, program %v, %d questions", p.State, p.Executable, len(host.Asked)))
	}
	return append(faults, knows(p)...)
}

// probeStranger: another program of the same name is never taken for the right one,
// not even where its version has the same form.
func probeStranger(t *testing.T, s Subject) (faults []string) {
	const usage = "usage: tool [-abc] FILE...\n\n  -a, --all  show all\n"
	for what, how := range map[string]bend{
		"a stranger": func(int, runtime.Question, runtime.Answer) runtime.Answer {
			return runtime.Answer{ExitCode: 2, Stderr: []byte(usage)}
		},
		"a polite stranger": func(int, runtime.Question, runtime.Answer) runtime.Answer { return probetest.Says(usage) },
		"a stranger with the same version": func(n int, _ runtime.Question, a runtime.Answer) runtime.Answer {
			if n == 0 {
				return a
			}
			return probetest.Says(usage)
		},
	} {
		p, err := probed(s, s.Machine(t), how)
		switch {
		case err != nil:
			faults = append(faults, what+": "+err.Error())
		case p.Routable():
			faults = append(faults, fmt.Sprintf("%s is routable", what))
		}
		for _, fault := range append(unsettled(p), knows(p)...) {
			faults = append(faults, what+": "+fault)
		}
	}
	return faults
}

// knows says what a profile claims to know although nothing told it.
func knows(p runtime.Profile) (faults []string) {
	if p.SignedIn != nil || len(p.Models) > 0 || len(p.Agents) > 0 || p.DefaultModel != "" || p.Family != "" {
		faults = append(faults, fmt.Sprintf("nothing said so: signed in %v, models %v, agents %v, default %q, family %q",
			p.SignedIn, p.Models, p.Agents, p.DefaultModel, p.Family))
	}
	for _, c := range p.Controls {
		if c.Verified {
			faults = append(faults, fmt.Sprintf("control %q is verified by nothing", c.Name))
		}
	}
	return faults
}

// probeHangs: a program that hangs at one question, or at all of them, still gets
// its state, and what it did not say is not known.
func probeHangs(t *testing.T, s Subject) []string {
	hang := runtime.Answer{TimedOut: true, ExitCode: -1}
	faults := eachQuestion(t, s, "hangs", hang)
	p, err := probed(s, s.Machine(t), func(int, runtime.Question, runtime.Answer) runtime.Answer { return hang })
	if err != nil {
		return append(faults, err.Error())
	}
	if p.State != runtime.StateUnverified {
		faults = append(faults, fmt.Sprintf("it always hangs, and its state is %q", p.State))
	}
	return append(faults, knows(p)...)
}

// probeBabbles: whatever a program says in the place of one answer, the probe ends
// with a state.
func probeBabbles(t *testing.T, s Subject) (faults []string) {
	for _, says := range []string{
		"", "\x00\xff\xfe\x1b[31m", "{", "[]", "null", `{"id":1}`, `{"id":2,"result":[7]}`, `"x"`, "-", "  --", "=\n:\n",
		strings.Repeat("[", 20_000), strings.Repeat("x", 1<<20),
	} {
		for _, answer := range []runtime.Answer{
			{Stdout: []byte(says)}, {Stderr: []byte(says), ExitCode: 1},
		} {
			faults = append(faults, eachQuestion(t, s, fmt.Sprintf("says %.20q", says), answer)...)
		}
	}
	return faults
}

// eachQuestion gives one answer in the place of each question's own, one at a time.
func eachQuestion(t *testing.T, s Subject, what string, instead runtime.Answer) (faults []string) {
	host := s.Machine(t)
	if _, err := probed(s, host, asRecorded); err != nil {
		return []string{err.Error()}
	}
	for at, question := range host.Asked {
		p, err := probed(s, s.Machine(t), func(n int, _ runtime.Question, a runtime.Answer) runtime.Answer {
			if n == at {
				return instead
			}
			return a
		})
		if err != nil {
			faults = append(faults, fmt.Sprintf("it %s at %q: %v", what, question.Argv, err))
			continue
		}
		for _, fault := range unsettled(p) {
			faults = append(faults, fmt.Sprintf("it %s at %q: %s", what, question.Argv, fault))
		}
	}
	return faults
}

// probeMuchHelp: a megabyte around the help text changes nothing that was learned
// from it.
func probeMuchHelp(t *testing.T, s Subject) (faults []string) {
	want := working(t, s)
	noise := strings.Repeat("Some more words about nothing in particular, as programs like to have them.\n", 14_000)
	p, err := probed(s, s.Machine(t), func(_ int, q runtime.Question, a runtime.Answer) runtime.Answer {
		if isHelp(q) {
			a.Stdout = append(append([]byte{}, a.Stdout...), "\n\nNotes\n"+noise...)
		}
		return a
	})
	if err != nil {
		return []string{err.Error()}
	}
	if p.State != want.State || !maps.Equal(p.Flags, want.Flags) {
		faults = append(faults, fmt.Sprintf("state %q (%s) and %d flags, without the noise %q and %d", p.State, p.Reason, len(p.Flags), want.State, len(want.Flags)))
	}
	for flag, line := range p.Flags {
		if len(line) > 1000 {
			faults = append(faults, fmt.Sprintf("%d bytes are kept as what shows %s", len(line), flag))
		}
	}
	return faults
}

// probeSignedOut: who is signed out is told so, and told what to type.
func probeSignedOut(t *testing.T, s Subject) []string {
	if s.SignedOut == nil {
		return nil
	}
	host := s.Machine(t)
	s.SignedOut(host)
	p, err := probed(s, host, asRecorded)
	if err != nil {
		return []string{err.Error()}
	}
	faults := unsettled(p)
	if p.State != runtime.StateUnavailable || p.SignedIn == nil || *p.SignedIn {
		faults = append(faults, fmt.Sprintf("state %q, signed in %v", p.State, p.SignedIn))
	}
	return faults
}
