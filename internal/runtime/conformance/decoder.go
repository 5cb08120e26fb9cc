package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
)

// recording is one recorded attempt, in lines.
type recording struct {
	name           string
	stdout, stderr []string
}

func recordings(t *testing.T, s Subject) (all []recording) {
	t.Helper()
	for _, dir := range s.Streams {
		for _, name := range probetest.Names(t, dir) {
			all = append(all, recording{name, lines(t, filepath.Join(dir, name+".out")), lines(t, filepath.Join(dir, name+".err"))})
		}
	}
	return all
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// decode is what the decoder that a command of the subject names makes of an attempt.
// A panic is a fault of its own.
type decode func(stdout, stderr []string) (probetest.Transcript, error)

func decoding(t *testing.T, s Subject) decode {
	t.Helper()
	var spec runtime.DecoderSpec
	p := working(t, s)
	for _, req := range requests(t, p) {
		if cmd, err := s.Adapter.Command(req, p); err == nil {
			spec = cmd.Decoder
			break
		}
	}
	return func(stdout, stderr []string) (got probetest.Transcript, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("the decoder panics: %v", r)
			}
		}()
		return probetest.Decode(s.Adapter.Decoder(spec), joined(stdout), joined(stderr)), nil
	}
}

func joined(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// decoderEmpty: an empty stream says nothing at all.
func decoderEmpty(t *testing.T, s Subject) (faults []string) {
	if len(s.Streams) == 0 {
		return nil
	}
	decoded := decoding(t, s)
	for what, stream := range map[string][]string{"no stream": nil, "blank lines": {"", "", ""}} {
		got, err := decoded(stream, stream)
		if err != nil {
			return []string{err.Error()}
		}
		if diff := cmp.Diff(runtime.Outcome{}, got.Outcome); diff != "" || got.Settled != "" || len(got.Events) > 0 {
			faults = append(faults, fmt.Sprintf("%s: settled %q, %d events, outcome (-want +got):\n%s", what, got.Settled, len(got.Events), diff))
		}
	}
	return faults
}

// decoderRecorded: what holds of every attempt that was ever recorded.
func decoderRecorded(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	completed := 0
	for _, r := range recordings(t, s) {
		got, err := decoded(r.stdout, r.stderr)
		if err != nil {
			return append(faults, r.name+": "+err.Error())
		}
		out := got.Outcome
		if out.Completed && !out.ErrorFlag {
			completed++
		}
		for _, fault := range oddOutcome(r, got) {
			faults = append(faults, r.name+": "+fault)
		}
	}
	if completed == 0 && len(s.Streams) > 0 {
		faults = append(faults, "no recorded attempt came to a good end")
	}
	return faults
}

func oddOutcome(r recording, got probetest.Transcript) (faults []string) {
	out := got.Outcome
	note := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	note((out.Reason != "") != (out.ErrorFlag || len(out.Denials) > 0), "reason %q with error flag %t and denials %v", out.Reason, out.ErrorFlag, out.Denials)
	note((out.Reason != "") != (!out.Evidence.Empty()), "reason %q with evidence %q", out.Reason, out.Evidence)
	note(len(out.Denials) > 0 && out.Reason != runtime.ReasonPermission, "something was denied, and the reason is %q", out.Reason)
	note(got.Settled != "" && out.Reason == "", "ended early as %q, without a reason", got.Settled)
	for _, denial := range out.Denials {
		note(denial.Boundary.Empty(), "the denial of %q names no boundary", denial.Tool)
	}
	note(out.Completed && !out.ErrorFlag && out.SessionID == "", "it completed, and its session is not known")
	note(out.SessionID != "" && !strings.Contains(string(joined(append(slices.Clone(r.stdout), r.stderr...))), out.SessionID), "session id %q was never said", out.SessionID)
	note(!out.Completed && !out.Answer.Empty() && !out.WorkBegun, "an answer, and no work begun")
	ended := slices.ContainsFunc(got.Events, func(e runtime.Event) bool { return e.Kind == runtime.EventComplete })
	note(ended && !out.Completed, "a completion event, and it is not completed")
	return faults
}

// decoderCut: a stream may end anywhere, and what is not over is not completed.
func decoderCut(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	for _, r := range recordings(t, s) {
		was := false
		for n := range len(r.stdout) + 1 {
			got, err := decoded(r.stdout[:n], r.stderr)
			switch {
			case err != nil:
				return append(faults, fmt.Sprintf("%s cut after %d lines: %v", r.name, n, err))
			case got.Outcome.Completed && !was && (n == 0 || !completes(s, r.stdout[n-1])):
				faults = append(faults, fmt.Sprintf("%s is completed after %d lines, by a line that does not say so", r.name, n))
			case was && !got.Outcome.Completed:
				faults = append(faults, fmt.Sprintf("%s is no longer completed after %d lines", r.name, n))
			}
			was = got.Outcome.Completed
		}
	}
	return faults
}

func completes(s Subject, line string) bool {
	return slices.ContainsFunc(s.Completion, func(sign string) bool { return strings.Contains(line, sign) })
}

// decoderIncomplete: without the completion event nothing completes.
func decoderIncomplete(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	for _, r := range recordings(t, s) {
		rest := slices.DeleteFunc(slices.Clone(r.stdout), func(line string) bool { return completes(s, line) })
		got, err := decoded(rest, r.stderr)
		if err != nil {
			return append(faults, r.name+": "+err.Error())
		}
		if got.Outcome.Completed {
			faults = append(faults, r.name+" is completed without its completion event")
		}
	}
	return faults
}

// decoderDirty: lines torn in two complete nothing, and lines of anything else
// between the program's own change nothing.
func decoderDirty(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	garbage := []string{"", "\x00\xff\xfe", "{", "{}", "[]", "null", "7", `"x"`, `{"type":7}`, `{"type":"no_such_event","data":{}}`, strings.Repeat("x", 1<<16)}
	for _, r := range recordings(t, s) {
		var torn, dirty []string
		for i, line := range r.stdout {
			torn = append(torn, line[:len(line)/2], line[len(line)/2:])
			dirty = append(dirty, garbage[i%len(garbage)], line)
		}
		if !s.LastLine {
			dirty = append(dirty, garbage...)
		}
		want, err := decoded(r.stdout, r.stderr)
		if err != nil {
			return append(faults, r.name+": "+err.Error())
		}
		if got, err := decoded(torn, r.stderr); err != nil || got.Outcome.Completed || !got.Outcome.Answer.Empty() {
			faults = append(faults, fmt.Sprintf("%s in torn lines: %v, %+v", r.name, err, got.Outcome))
		}
		got, err := decoded(dirty, r.stderr)
		if diff := cmp.Diff(want.Outcome, got.Outcome); err != nil || diff != "" {
			faults = append(faults, fmt.Sprintf("%s with garbage in it: %v (-clean +dirty)\n%s", r.name, err, diff))
		}
	}
	return faults
}

// decoderOdd: a field of another type than usual breaks nothing.
func decoderOdd(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	for _, r := range recordings(t, s) {
		for i, line := range r.stdout {
			var fields map[string]json.RawMessage
			if json.Unmarshal([]byte(line), &fields) != nil {
				continue
			}
			for key := range fields {
				for _, odd := range []string{"null", "7", `"x"`, "[]", "[7]", "{}", "true"} {
					changed := maps.Clone(fields)
					changed[key] = json.RawMessage(odd)
					text, err := json.Marshal(changed)
					if err != nil {
						return append(faults, err.Error())
					}
					if _, err := decoded([]string{string(text)}, nil); err != nil {
						faults = append(faults, fmt.Sprintf("%s line %d with %s as %s: %v", r.name, i+1, key, odd, err))
					}
				}
			}
		}
	}
	return faults
}

// decoderUsage: what was used is not known where the program does not say it.
func decoderUsage(t *testing.T, s Subject) (faults []string) {
	decoded := decoding(t, s)
	for _, r := range recordings(t, s) {
		var silent []string
		for _, line := range r.stdout {
			silent = append(silent, withoutUsage(line))
		}
		got, err := decoded(silent, r.stderr)
		if err != nil || got.Outcome.Usage != nil {
			faults = append(faults, fmt.Sprintf("%s without a word on usage: %v, usage %+v", r.name, err, got.Outcome.Usage))
		}
	}
	return faults
}

// withoutUsage takes every field about usage or cost out of a line.
func withoutUsage(line string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return line
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(pruned(value)) != nil {
		return line
	}
	return strings.TrimSpace(text.String())
}

func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, _ any) bool {
			key = strings.ToLower(key)
			return strings.Contains(key, "usage") || strings.Contains(key, "token") || strings.Contains(key, "cost") || key == "stats"
		})
		for key := range v {
			v[key] = pruned(v[key])
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}
