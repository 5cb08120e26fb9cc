package cli

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Interrupts that come in one moment are one press of a key, whatever came long before.
func TestPresses(t *testing.T) {
	var p presses
	at := time.Unix(1000, 0)
	for i, tc := range []struct {
		after time.Duration
		more  bool
	}{
		{0, true},
		{5 * time.Millisecond, false},
		{onePress - 6*time.Millisecond, false},
		{time.Second, true},
		{onePress, true},
	} {
		at = at.Add(tc.after)
		if p.again(at) != tc.more {
			t.Errorf("interrupt %d counts: %v", i, !tc.more)
		}
	}
}

// A cancel stops once, kills once and never ends the process, also among a person's
// interrupts, of which each says what the next would do.
func TestBrakes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		signals string // s = cancel, k = cancel --kill, i = interrupt
		stopped bool
		killed  bool
		quits   int
		says    []string
	}{
		{"nothing", "", false, false, 0, nil},
		{"cancelled often", "sssss", true, false, 0, []string{"as `orchestrate cancel` asks"}},
		{"killed often", "kkkkk", true, true, 0, []string{"as `orchestrate cancel --kill` asks"}},
		{"interrupt, then cancels", "isss", true, false, 0, []string{"stopping: "}},
		{"cancel, then interrupt", "si", true, false, 0, []string{"`orchestrate cancel`", "already"}},
		{"cancel, then twice", "sii", true, true, 0, []string{"`orchestrate cancel`", "already", "killing"}},
		{"killed, then interrupts", "kii", true, true, 0, []string{"--kill", "already"}},
		{"thrice", "iii", true, true, 1, []string{"stopping: ", "killing", "cancel x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var said bytes.Buffer
			b := newBrakes(t.Context(), System{Err: &said})
			quits := 0
			b.quit = func(int) { quits++ }
			id := "x"
			b.run.Store(&id)
			for _, c := range tc.signals {
				switch c {
				case 's':
					b.signalled(askStop)
				case 'k':
					b.signalled(askKill)
				case 'i':
					b.presses = presses{} // long after the one before
					b.signalled(syscall.SIGINT)
				}
			}
			killed := false
			select {
			case <-b.kill:
				killed = true
			default:
			}
			if stopped := b.work.Err() != nil; stopped != tc.stopped || killed != tc.killed || quits != tc.quits {
				t.Errorf("stopped %v, killed %v, quits %d", stopped, killed, quits)
			}
			lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
			if said.Len() == 0 {
				lines = nil
			}
			if len(lines) != len(tc.says) {
				t.Fatalf("said %q, want %q", lines, tc.says)
			}
			for i, want := range tc.says {
				if !strings.Contains(lines[i], want) {
					t.Errorf("said %q, want %q", lines[i], want)
				}
			}
		})
	}
}
