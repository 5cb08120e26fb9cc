package cli

import (
	"bytes"
	"io"
	"testing"

	"orchestrate/internal/detach"
)

// TestAQuestionComesAfterWhatWasSaidBeforeIt: a line that came in between would part it
// from its answer.
func TestAQuestionComesAfterWhatWasSaidBeforeIt(t *testing.T) {
	var shown bytes.Buffer
	sys := System{In: &bytes.Buffer{}, Err: &shown} // nobody is at a terminal: a question is answered at once
	w := &watched{sys: sys, tty: newApprover(sys), told: newProgress(sys.Err)}
	put := func() bool {
		select {
		case <-w.tty.answers:
			return true
		default:
			return false
		}
	}
	w.heard(detach.Message{Question: &detach.Question{N: 1, After: 10}})
	for _, text := range []string{"12345", "6789"} {
		io.WriteString(w.told, text)
		if w.ask(); put() {
			t.Fatalf("it is put after %q", shown.String())
		}
	}
	io.WriteString(w.told, "0\n")
	<-w.told.moved
	if w.ask(); !put() {
		t.Error("it is not put")
	}
	if w.ask(); put() {
		t.Error("it is put twice")
	}
	w.heard(detach.Message{Question: &detach.Question{N: 2, After: 11}})
	if !put() {
		t.Error("all was said, and it is not put")
	}
}

// TestWhatNobodyReadsHoldsUpNoQuestion: the reader of standard error may have gone.
func TestWhatNobodyReadsHoldsUpNoQuestion(t *testing.T) {
	r, to := io.Pipe()
	r.Close()
	p := newProgress(to)
	for range 2 {
		if n, err := io.WriteString(p, "12345"); n != 5 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := p.shown.Load(); got != 10 {
		t.Error(got)
	}
}
