package standin

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"orchestrate/internal/runtime"
)

// proof is what stands behind every claim of the stand-in.
const proof = "rehearsal"

// controls are those that the stand-in has by construction: it does what its
// script says and nothing else.
var controls = [...]runtime.ControlName{
	runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlOSSandbox, runtime.ControlToolLimits,
	runtime.ControlModel, runtime.ControlEffort, runtime.ControlAgent, runtime.ControlNoProject,
}

// New returns the adapter. self is the absolute path of the running executable,
// whose hidden subcommand `standin` is the program.
func New(self string) runtime.Adapter { return adapter{self} }

type adapter struct{ self string }

func (adapter) Name() string        { return Name }
func (adapter) SignInEnv() []string { return nil }
func (adapter) Shared() bool        { return false }

// Probe identifies the running executable; there is nothing else to ask.
func (a adapter) Probe(_ context.Context, host runtime.Host) runtime.Profile {
	p := runtime.Profile{
		Runtime:  Name,
		Kind:     runtime.KindStandin,
		State:    runtime.StateAvailable,
		Limits:   []string{"a rehearsal: no agent works and no verdict counts"},
		ProbedAt: host.Now(),
		// No list of models or agents can refuse what a live route would be asked for.
		ModelsPartial: true,
		Capability:    "C3", CapabilitySource: proof,
	}
	for _, name := range controls {
		p.Controls = append(p.Controls, runtime.Control{Name: name, Verified: true, Evidence: proof})
	}
	exe, err := host.Hash(a.self)
	if err != nil {
		p.State = runtime.StateUnavailable
		p.Reason = fmt.Sprintf("the stand-in is this program, which cannot be read: %v", err)
		p.NextStep = "reinstall orchestrate, then run `orchestrate doctor`"
		return p
	}
	p.Executable = &exe
	return p
}

// Command runs this executable's hidden subcommand with the prompt on stdin.
func (a adapter) Command(req runtime.Request, _ runtime.Profile) (runtime.Command, error) {
	if req.Script != "" && !filepath.IsAbs(req.Script) {
		return runtime.Command{}, fmt.Errorf("the stand-in's script must be an absolute path, not %q", req.Script)
	}
	argv := []string{
		a.self, Name, "--job=" + req.Job, "--attempt=" + strconv.Itoa(max(req.Attempt, 1)),
		"--task=" + req.Task, "--access=" + string(req.Access),
	}
	for _, opt := range [...]struct{ flag, value string }{
		{"--out=", req.Out}, {"--script=", req.Script}, {"--expected=", brief(req.ExpectedOutput)},
	} {
		if opt.value != "" {
			argv = append(argv, opt.flag+opt.value)
		}
	}
	argv = appendAll(argv, "--owned=", req.OwnedPaths)
	argv = appendAll(argv, "--output=", req.Outputs)
	argv = appendAll(argv, "--judge=", req.Judged)
	return runtime.Command{
		Argv: argv, Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM", Controls: controls[:], Limits: []string{proof}, Answer: runtime.AnswerFromStream,
	}, nil
}

func (adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder { return NewDecoder(spec) }

// appendAll repeats a flag: a list in one value would break on a glob's comma.
func appendAll(argv []string, flag string, values []string) []string {
	for _, v := range values {
		argv = append(argv, flag+v)
	}
	return argv
}

// brief bounds a text that travels in argv.
func brief(s string) string {
	const limit = 1000
	r := []rune(s)
	if len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
