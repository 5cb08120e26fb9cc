package custom

import (
	"cmp"
	"slices"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/custom/output"
)

// Whose word a description is, as profiles and limits name it.
const (
	ByOperator = "the operator's configuration"
	Shipped    = "orchestrate's list of known programs"
)

// New makes a runtime of a definition without problems. source is whose word it is,
// self the absolute path of this program, which speaks the protocol of acp agents.
func New(name, source string, d Definition, self string) runtime.Adapter {
	return &adapter{name: name, source: source, def: d, self: self}
}

type adapter struct {
	name   string
	source string
	def    Definition
	self   string
}

func (a adapter) Name() string { return a.name }

// Metered implements runtime.Meter: what the description says where it stands. An agent
// of the Agent Client Protocol may tell all of it or nothing.
func (a adapter) Metered() runtime.Metered {
	named := func(fields ...string) runtime.Told {
		if slices.Contains(fields, "") {
			return runtime.ToldNever
		}
		return runtime.ToldAlways
	}
	switch a.def.Output {
	case outputStream:
		return runtime.Metered{USD: runtime.ToldAlways, Tokens: runtime.ToldAlways}
	case outputACP:
		return runtime.Metered{USD: runtime.ToldSometimes, Tokens: runtime.ToldSometimes}
	case outputLastLine:
		u := a.def.Usage
		return runtime.Metered{USD: named(u.Cost), Tokens: named(u.Input, u.Output)}
	}
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldNever}
}

// SignInEnv implements runtime.Adapter.
func (a adapter) SignInEnv() []string {
	names := slices.Clone(a.def.Env)
	if a.def.SignIn != nil {
		names = append(names, a.def.SignIn.Env...)
	}
	return names
}

// Shared reports whether the definition names paths that starts share.
func (a adapter) Shared() bool { return len(a.def.State) > 0 }

// Decoder implements runtime.Adapter.
func (a adapter) Decoder(spec runtime.DecoderSpec) runtime.Decoder {
	switch a.def.Output {
	case outputLastLine:
		return output.NewLastLine(spec)
	case outputStream:
		return claude.NewDecoder(spec)
	case outputACP:
		return acp.NewDecoder(spec)
	}
	return output.NewText(spec)
}

// decoder is what the supervisor makes the decoder of.
func (d Definition) decoder() runtime.DecoderSpec {
	switch d.Output {
	case outputLastLine:
		return runtime.DecoderSpec{Runtime: output.LastLineName, Custom: d.form()}
	case outputStream:
		return runtime.DecoderSpec{Runtime: claude.Name}
	case outputACP:
		return runtime.DecoderSpec{Runtime: acp.DecoderName}
	}
	return runtime.DecoderSpec{Runtime: output.TextName}
}

func (d Definition) form() *runtime.Form {
	f := &runtime.Form{
		Completion: d.Completion, Answer: d.Answer, Session: d.Session, Model: d.Model,
		InputTokens: d.Usage.Input, OutputTokens: d.Usage.Output, CostUSD: d.Usage.Cost,
		Error: d.Error, Refused: d.Refused.Field, RefusedText: d.Refused.Contains, RefusedTool: d.Refused.Tool,
	}
	if f.Completion == exitZero {
		f.Completion = ""
	}
	return f
}

func (d Definition) prompt() string { return cmp.Or(d.Prompt, promptStdin) }

// stop is the polite signal as runtime.Command has it.
func (d Definition) stop() string {
	if d.Stop == stopNone {
		return ""
	}
	return cmp.Or(d.Stop, stopGroup)
}

// set are the variables that the program always gets, in a fixed order.
func (d Definition) set() []string {
	var all []string
	for name, value := range d.Set {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
