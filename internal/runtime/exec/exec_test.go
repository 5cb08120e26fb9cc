package exec

import (
	"context"
	"slices"
	"testing"
	"time"

	"orchestrate/internal/runtime"
)

type host struct{ runtime.Host }

func (host) Now() time.Time { return time.Unix(1, 0) }

func TestAPlainProgram(t *testing.T) {
	a := New()
	p := a.Probe(context.Background(), host{})
	if p.State != runtime.StateAvailable || p.Kind != runtime.KindExec || p.Capability != "" || len(p.Controls) != 0 {
		t.Errorf("profile %+v", p)
	}
	argv := []string{"sh", "-c", "echo $1; rm x"}
	cmd, err := a.Command(runtime.Request{Argv: argv, Prompt: "unused"}, p)
	if err != nil || !slices.Equal(cmd.Argv, argv) || cmd.Stdin != nil {
		t.Errorf("command %+v, error %v", cmd, err)
	}
	if cmd.Answer != runtime.AnswerFromStdout || cmd.PoliteStop != "TERM-GROUP" {
		t.Errorf("command %+v", cmd)
	}
	if _, err := a.Command(runtime.Request{}, p); err == nil {
		t.Error("an empty command was accepted")
	}
}

func TestOutputIsNeverACompletion(t *testing.T) {
	d := New().Decoder(runtime.DecoderSpec{})
	if ev := d.Stdout([]byte(`{"type":"result"}`)); ev != nil {
		t.Errorf("events %v", ev)
	}
	if ev := d.Stderr([]byte("error")); ev != nil {
		t.Errorf("events %v", ev)
	}
	if _, ok := d.Settle(); ok {
		t.Error("it settled")
	}
	if out := d.Outcome(); out.Completed || out.ErrorFlag || !out.WorkBegun {
		t.Errorf("outcome %+v", out)
	}
}
