package standin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// host is a machine on which only Hash matters.
type host struct {
	runtime.Host
	err error
}

func (h host) Hash(path string) (runtime.Executable, error) {
	return runtime.Executable{Path: path, Resolved: path, SHA256: "abc"}, h.err
}
func (host) Now() time.Time { return time.Unix(1, 0) }

func decode(lines ...string) ([]runtime.EventKind, runtime.Outcome, runtime.Reason) {
	d := NewDecoder(runtime.DecoderSpec{Runtime: Name})
	var kinds []runtime.EventKind
	for _, l := range lines {
		for _, e := range d.Stdout([]byte(l)) {
			kinds = append(kinds, e.Kind)
		}
	}
	why, _ := d.Settle()
	return kinds, d.Outcome(), why
}

func TestDecoderReadsAWholeAttempt(t *testing.T) {
	kinds, out, why := decode(
		`{"kind":"session","sessionId":"s1"}`, `{"kind":"model","model":"m"}`, `{"kind":"text","text":"hi"}`,
		`a child's own words`, ``, `{"kind":"usage","usage":{"inputTokens":3,"outputTokens":null,"costUsd":null}}`,
		`{"kind":"answer","text":"done"}`, `{"kind":"completed"}`,
	)
	want := []runtime.EventKind{"session", "model", "text", "text", "usage", "answer", "completed"}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	three := int64(3)
	wantOut := runtime.Outcome{
		Completed: true, Answer: untrusted.From("done"), SessionID: "s1", ObservedModel: "m", WorkBegun: true,
		Usage: &runtime.Usage{InputTokens: &three},
	}
	if d := cmp.Diff(wantOut, out); d != "" || why != "" {
		t.Errorf("outcome (-want +got), settle %q:\n%s", why, d)
	}
}

func TestDecoderSettlesOnADenial(t *testing.T) {
	_, out, why := decode(`{"kind":"denied","tool":"Write","text":"outside the tree"}`, `{"kind":"completed"}`)
	if why != runtime.ReasonPermission || out.Reason != runtime.ReasonPermission || out.Evidence != untrusted.From("outside the tree") {
		t.Errorf("settle %q, outcome %+v", why, out)
	}
	if len(out.Denials) != 1 || out.Denials[0].Tool != "Write" {
		t.Errorf("denials %+v", out.Denials)
	}
}

func TestDecoderKeepsTheErrorFlag(t *testing.T) {
	_, out, _ := decode(`{"kind":"failed","reason":"rate_limit","text":"slow down","retryAfterMs":5000}`)
	if !out.Completed || !out.ErrorFlag || out.Reason != runtime.ReasonRateLimit || out.RetryAfterMs != 5000 || out.WorkBegun {
		t.Errorf("outcome %+v", out)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"kind":"text"}`))
	f.Add([]byte(`{"kind":`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		d := NewDecoder(runtime.DecoderSpec{})
		d.Stdout(line)
		d.Outcome()
	})
}

func TestProbe(t *testing.T) {
	p := New("/bin/orchestrate").Probe(context.Background(), host{})
	if !p.Routable() || p.Kind != runtime.KindStandin || p.Capability != "C3" || p.CapabilitySource != "rehearsal" || p.Family != "" {
		t.Errorf("profile %+v", p)
	}
	for _, name := range controls {
		if !p.Has(name) {
			t.Errorf("control %s is not verified", name)
		}
	}
	p = New("/gone").Probe(context.Background(), host{err: errors.New("no such file")})
	if p.Routable() || p.NextStep == "" || !strings.Contains(p.Reason, "no such file") {
		t.Errorf("an unreadable executable gave %+v", p)
	}
}

func TestCommandCarriesNoPromptInArgv(t *testing.T) {
	req := runtime.Request{
		Job: "fix", Attempt: 2, Task: "implement", Prompt: "--version", Access: runtime.AccessEdit,
		OwnedPaths: []string{"a/{b,c}/**"}, Outputs: []string{"r.md"}, Judged: []string{"x"}, Script: "/s.yaml",
		ExpectedOutput: strings.Repeat("é", 5000),
	}
	cmd, err := New("/o").Command(req, runtime.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(cmd.Argv, " ")
	if !strings.HasPrefix(line, "/o standin --job=fix --attempt=2 --task=implement --access=edit --script=/s.yaml --expected=é") ||
		!strings.HasSuffix(line, "… --owned=a/{b,c}/** --output=r.md --judge=x") {
		t.Errorf("argv %s", line)
	}
	if string(cmd.Stdin) != "--version" || strings.Contains(line, "--version") || len(line) > 3000 {
		t.Errorf("stdin %q, argv of %d bytes", cmd.Stdin, len(line))
	}
	req.Script = "s.yaml"
	if _, err := New("/o").Command(req, runtime.Profile{}); err == nil {
		t.Error("a relative script was accepted")
	}
}
