package probetest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/runtime"
)

// Transcript is what a decoder made of one recorded attempt.
type Transcript struct {
	Events  []runtime.Event
	Settled runtime.Reason // "" = it ran to its own end
	After   int            // lines read when it settled
	Outcome runtime.Outcome
}

// Decode feeds a recorded attempt, standard error first, to a decoder.
func Decode(d runtime.Decoder, stdout, stderr []byte) Transcript {
	var t Transcript
	read := 0
	feed := func(stream []byte, take func([]byte) []runtime.Event) {
		for line := range bytes.Lines(stream) {
			t.Events = append(t.Events, take(bytes.TrimSuffix(line, []byte("\n")))...)
			read++
			if why, ok := d.Settle(); ok && t.Settled == "" {
				t.Settled, t.After = why, read
			}
		}
	}
	feed(stderr, d.Stderr)
	feed(stdout, d.Stdout)
	t.Outcome = d.Outcome()
	return t
}

// Recorded decodes dir/name.out and dir/name.err and compares the whole
// transcript with dir/name.golden, which it writes instead when update is set.
func Recorded(t *testing.T, d runtime.Decoder, dir, name string, update bool) Transcript {
	t.Helper()
	got := Decode(d, stream(t, filepath.Join(dir, name+".out")), stream(t, filepath.Join(dir, name+".err")))
	text := render(t, got)
	golden := filepath.Join(dir, name+".golden")
	if update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("transcript differs from %s (-want +got), run with -update after looking at it:\n%s", golden, diff)
	}
	return got
}

// Want is what a recorded attempt must come to, beside its golden transcript.
type Want struct {
	Completed, Failed bool
	Reason, Settled   runtime.Reason
	Answered          bool
}

// Recordings holds every recorded attempt in dir against its golden transcript and
// against cases, and calls also (if not nil) with each transcript.
func Recordings(t *testing.T, decoder func(runtime.DecoderSpec) runtime.Decoder, dir string, cases map[string]Want, update bool, also func(*testing.T, Transcript)) {
	t.Helper()
	for _, name := range Names(t, dir) {
		t.Run(name, func(t *testing.T) {
			got := Recorded(t, decoder(runtime.DecoderSpec{}), dir, name, update)
			want, listed := cases[name]
			if !listed {
				t.Fatal("this recording is not in the table")
			}
			out := got.Outcome
			have := Want{out.Completed, out.ErrorFlag, out.Reason, got.Settled, !out.Answer.Empty()}
			if have != want {
				t.Errorf("got %+v, want %+v (%s)", have, want, out.Evidence)
			}
			if out.Reason != "" && out.Evidence.Empty() {
				t.Error("a reason without its evidence")
			}
			for _, fault := range inPieces(decoder(runtime.DecoderSpec{}), stream(t, filepath.Join(dir, name+".out")), got.Events) {
				t.Error(fault)
			}
			if also != nil {
				also(t, got)
			}
		})
	}
}

// Names are the recorded attempts in dir.
func Names(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.out"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded streams in %s: %v", dir, err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".out"))
	}
	return names
}

func stream(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return data
}

func render(t *testing.T, transcript Transcript) string {
	t.Helper()
	var b strings.Builder
	for _, event := range transcript.Events {
		line, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(bytes.Replace(line, []byte(`"seq":0,"at":"0001-01-01T00:00:00Z",`), nil, 1), '\n'))
	}
	if transcript.Settled != "" {
		b.WriteString("settled: " + string(transcript.Settled) + "\n")
	}
	outcome, err := json.MarshalIndent(transcript.Outcome, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + string(outcome) + "\n"
}
