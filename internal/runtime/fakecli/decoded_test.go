package fakecli

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/untrusted"
)

// What the fakes say, the real decoders must read.
func TestTheRealDecodersReadTheFakes(t *testing.T) {
	commands := map[string][]string{
		"claude": {"--print", "--output-format=stream-json", "--verbose", "--tools=Read,Write"},
		"codex":  {"exec", "--json", "--sandbox=workspace-write", "-"},
	}
	for name, c := range map[string]struct {
		steps string
		code  int
		check func(runtime.Outcome, runtime.Reason) bool
	}{
		"answered": {
			"{say: hello}, {write: {path: a, content: x}}, {usage: {input: 7, output: 3}}, {answer: done}", 0,
			func(o runtime.Outcome, _ runtime.Reason) bool {
				return o.Completed && !o.ErrorFlag && o.Answer == untrusted.From("done") && o.WorkBegun && o.SessionID != "" &&
					o.Usage != nil && *o.Usage.InputTokens == 7 && *o.Usage.OutputTokens == 3
			},
		},
		"refused": {
			"{deny: {tool: Write, boundary: /outside/file}}, {answer: done}", 0,
			func(o runtime.Outcome, why runtime.Reason) bool {
				return why == runtime.ReasonPermission && o.Reason == runtime.ReasonPermission && len(o.Denials) > 0 &&
					strings.Contains(o.Denials[0].Boundary.Unshown(), "/outside/file")
			},
		},
		"signed out": {
			"{error: {reason: auth, text: Invalid key}}, {exit: 1}", 1,
			func(o runtime.Outcome, why runtime.Reason) bool {
				return why == runtime.ReasonAuth && o.Reason == runtime.ReasonAuth && !o.WorkBegun
			},
		},
		"rate limit": {
			"{error: {reason: rate_limit, text: slow down}}, {exit: 1}", 1,
			func(o runtime.Outcome, _ runtime.Reason) bool {
				return o.Completed && o.ErrorFlag && o.Reason == runtime.ReasonRateLimit
			},
		},
		"unknown model": {
			"{error: {reason: unknown_model, text: the model does not exist}}, {exit: 1}", 1,
			func(o runtime.Outcome, _ runtime.Reason) bool {
				return o.ErrorFlag && o.Reason == runtime.ReasonUnknownModel
			},
		},
		"error flag and exit 0": {
			"{error: {reason: crash, text: boom}}", 0,
			func(o runtime.Outcome, _ runtime.Reason) bool { return o.Completed && o.ErrorFlag },
		},
		"no completion": {
			"{say: hello}, {no_completion: true}", 0,
			func(o runtime.Outcome, _ runtime.Reason) bool { return !o.Completed && o.WorkBegun },
		},
	} {
		for cli, args := range commands {
			t.Run(cli+" "+name, func(t *testing.T) {
				got := as(t, cli, "runs: [{steps: ["+c.steps+"]}]", "the prompt", args...)
				out, why := decoded(t, cli, got)
				if got.code != c.code || !c.check(out, why) {
					t.Errorf("exit %d, settled %q, outcome %+v\n%s%s", got.code, why, out, got.stdout, got.stderr)
				}
			})
		}
	}
}

func decoded(t *testing.T, cli string, got said) (runtime.Outcome, runtime.Reason) {
	t.Helper()
	d, err := decoders.For(runtime.DecoderSpec{Runtime: cli})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(got.stdout), "\n") {
		d.Stdout([]byte(line))
	}
	for line := range strings.SplitSeq(strings.TrimSpace(got.stderr), "\n") {
		d.Stderr([]byte(line))
	}
	why, _ := d.Settle()
	return d.Outcome(), why
}

func TestClaudeTellsTheModelThatAnswered(t *testing.T) {
	got := as(t, "claude", "runs: [{steps: [{model: other-2}, {answer: x}]}]", "p", "--print", "--model=fake")
	if out, _ := decoded(t, "claude", got); out.ObservedModel != "other-2" {
		t.Errorf("observed %q", out.ObservedModel)
	}
}
