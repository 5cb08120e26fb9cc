// Package decoders builds the decoder that a DecoderSpec names. The lean
// supervisor links it: nothing but decoders may be imported here.
package decoders

import (
	"fmt"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/custom/output"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/qwen"
	"orchestrate/internal/runtime/standin"
)

// Raw names the decoder of a probe, whose output is read when it has ended.
const Raw = "raw"

// For builds the decoder that spec names. An unknown name is an error: the engine
// and its supervisor are then not of one version.
func For(spec runtime.DecoderSpec) (runtime.Decoder, error) {
	switch spec.Runtime {
	case claude.Name:
		return claude.NewDecoder(spec), nil
	case codex.Name:
		return codex.NewDecoder(spec), nil
	case gemini.Name:
		return gemini.NewDecoder(spec), nil
	case opencode.Name, opencode.KiloName:
		return opencode.NewDecoder(spec), nil
	case qwen.Name:
		return qwen.NewDecoder(spec), nil
	case copilot.Name:
		return copilot.NewDecoder(spec), nil
	case pi.Name:
		return pi.NewDecoder(spec), nil
	case commandcode.Name:
		return commandcode.NewDecoder(spec), nil
	case cursor.Name:
		return cursor.NewDecoder(spec), nil
	case acp.DecoderName:
		return acp.NewDecoder(spec), nil
	case output.TextName:
		return output.NewText(spec), nil
	case output.LastLineName:
		return output.NewLastLine(spec), nil
	case exec.Name:
		return exec.NewDecoder(spec), nil
	case standin.Name:
		return standin.NewDecoder(spec), nil
	case Raw:
		return raw{}, nil
	}
	return nil, fmt.Errorf("no decoder for runtime %q in this supervisor: reinstall both binaries together", spec.Runtime)
}

// raw emits nothing.
type raw struct{}

func (raw) Stdout([]byte) []runtime.Event  { return nil }
func (raw) Stderr([]byte) []runtime.Event  { return nil }
func (raw) Settle() (runtime.Reason, bool) { return "", false }
func (raw) Outcome() runtime.Outcome       { return runtime.Outcome{} }

// LineBlind tells the supervisor that no line of a probe needs framing.
func (raw) LineBlind() bool { return true }
