package ui_test

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
)

// paper is written on and read by different goroutines.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// A step is told once it takes its time, those of a kind on one line; a quick one never.
func TestSlowSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out paper
		l := ui.NewLines(&out)
		say := func(r ledger.Record) {
			r.At = time.Now()
			l.Record(r)
		}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		say(ledger.Under("", ledger.StepProbe, "claude", false))
		say(ledger.Under("", ledger.StepProbe, "codex", false))
		say(ledger.Under("", ledger.StepProbe, "exec", false))
		say(ledger.Under("", ledger.StepProbe, "exec", true))
		wait(1900 * time.Millisecond)
		if out.String() != "" {
			t.Errorf("too early: %s", out.String())
		}
		wait(200 * time.Millisecond)
		say(ledger.Under("", ledger.StepProbe, "claude", true))
		say(ledger.Under("", ledger.StepProbe, "codex", true))
		say(ledger.Under("impl", ledger.StepWorktree, "", false))
		wait(time.Second)
		say(ledger.Under("impl", ledger.StepCheck, "go test", false))
		say(ledger.Under("other", ledger.StepCheck, "vet", false))
		wait(5 * time.Second)
		say(ledger.Under("impl", ledger.StepSetup, "", false))
		say(ledger.RunEnded("pass", 0))
		wait(time.Minute)
		want := "      2s  probing claude, codex …\n" +
			"    4.1s  making the worktree of impl …\n" +
			"    5.1s  checking impl (go test), other (vet) …\n" +
			"    8.1s  verdict: pass\n"
		if out.String() != want {
			t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
		}
	})
}
