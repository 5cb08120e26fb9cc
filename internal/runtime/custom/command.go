package custom

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// argLimit is what one argument can be at most on Linux, in bytes.
const argLimit = 128<<10 - 1

// Command implements runtime.Adapter.
func (a adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, fmt.Errorf("%s was not found by the probe, so there is no program to run", a.name)
	}
	if err := a.unsupported(req); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{Env: a.def.set(), Decoder: a.def.decoder(), PoliteStop: a.def.stop(), Answer: runtime.AnswerFromStream}
	if req.Access == runtime.AccessShell {
		cmd.Limits = append(cmd.Limits, runtime.LimitShell)
	}
	if a.def.Output == outputText {
		cmd.Answer = runtime.AnswerFromStdout
	}
	if a.def.Output == outputACP {
		return a.turn(cmd, req, p)
	}
	cmd.Argv = a.agent(p.Executable.Path)
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		a.addAccess, a.addModel, a.addEffort, a.addResume, a.addPrompt,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// unsupported names what no description has means for.
func (a adapter) unsupported(req runtime.Request) error {
	switch {
	case req.Agent != "":
		return fmt.Errorf("agent %q: %s is described without a way to ask for one; leave it out or use another runtime", req.Agent, a.name)
	case req.AllowedTools != nil, len(req.DisallowedTools) > 0:
		return fmt.Errorf("%s is described without a way to limit its tools; leave allowed_tools and disallowed_tools out or use another runtime", a.name)
	case strings.HasPrefix(req.Model, "-"), strings.HasPrefix(req.Resume, "-"):
		return fmt.Errorf("model %q and session %q: neither may begin with -, since %s would take it for a flag", req.Model, req.Resume, a.name)
	case !slices.Contains([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}, req.Access):
		return fmt.Errorf("%s knows no access %q", a.name, req.Access)
	}
	return nil
}

// addAccess makes a reader unable to write where the description says how.
func (a adapter) addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Access != runtime.AccessRead || len(a.def.ReadOnlyArgs) == 0 {
		return nil
	}
	return a.add(cmd, p, runtime.ControlReadOnly, "kept from writing", a.def.ReadOnlyArgs)
}

func (a adapter) addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model == "" {
		return nil
	}
	return a.add(cmd, p, runtime.ControlModel, "asked for model "+req.Model, fill(a.def.ModelArgs, modelHere, req.Model))
}

func (a adapter) addEffort(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch {
	case req.Effort == "":
		return nil
	case len(a.def.EffortArgs) > 0 && !slices.Contains(a.def.Efforts, req.Effort):
		return fmt.Errorf("effort %q is not one that %s takes; it takes: %s", req.Effort, a.name, strings.Join(a.def.Efforts, ", "))
	}
	return a.add(cmd, p, runtime.ControlEffort, "asked for effort "+req.Effort, fill(a.def.EffortArgs, effortHere, req.Effort))
}

// add appends words that a control stands for.
func (a adapter) add(cmd *runtime.Command, p runtime.Profile, name runtime.ControlName, what string, words []string) error {
	if !p.Has(name) {
		return fmt.Errorf("%s cannot be %s: %s", a.name, what, p.EvidenceOf(name))
	}
	cmd.Argv = append(cmd.Argv, words...)
	cmd.Controls = append(cmd.Controls, name)
	return nil
}

func (a adapter) addResume(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Resume == "" {
		return nil
	}
	if len(a.def.ResumeArgs) == 0 {
		return fmt.Errorf("%s is described without a way to go on with an earlier session", a.name)
	}
	if flag := a.def.notShown(a.def.ResumeArgs, p); flag != "" {
		return fmt.Errorf("%s cannot go on with an earlier session: its help does not show %s", a.name, flag)
	}
	cmd.Argv = append(cmd.Argv, fill(a.def.ResumeArgs, sessionHere, req.Resume)...)
	return nil
}

// fill puts the value where the placeholder is.
func fill(words []string, here, value string) []string {
	filled := make([]string, len(words))
	for i, w := range words {
		filled[i] = strings.ReplaceAll(w, here, value)
	}
	return filled
}

// addPrompt comes last: an argument without a flag ends the command.
func (a adapter) addPrompt(cmd *runtime.Command, req runtime.Request, _ runtime.Profile) error {
	switch a.def.prompt() {
	case promptFile:
		a.addLast(cmd, req.PromptFile)
	case promptArg:
		if len(req.Prompt) > argLimit {
			return fmt.Errorf("%s gets its prompt as an argument, and this one has %d bytes; at most %d are possible: shorten it, or use another runtime", a.name, len(req.Prompt), argLimit)
		}
		if a.def.PromptFlag == "" && strings.HasPrefix(req.Prompt, "-") {
			return errors.New("the prompt begins with -, so it would be taken for a flag; begin it with a word, or describe the runtime with a prompt_flag")
		}
		cmd.Limits = append(cmd.Limits, "its prompt is an argument, which everybody on this machine can see")
		a.addLast(cmd, req.Prompt)
	default:
		cmd.Stdin = []byte(req.Prompt)
	}
	return nil
}

func (a adapter) addLast(cmd *runtime.Command, value string) {
	flag := a.def.PromptFlag
	switch {
	case flag == "":
		cmd.Argv = append(cmd.Argv, value)
	case strings.HasSuffix(flag, "="):
		cmd.Argv = append(cmd.Argv, flag+value)
	default:
		cmd.Argv = append(cmd.Argv, flag, value)
	}
}

// turn is the command of an acp agent: this program's own client, with the agent as
// its child.
func (a adapter) turn(cmd runtime.Command, req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	for _, c := range []struct {
		name  runtime.ControlName
		value string
	}{{runtime.ControlModel, req.Model}, {runtime.ControlEffort, req.Effort}} {
		if c.value == "" {
			continue
		}
		if !p.Has(c.name) {
			return runtime.Command{}, fmt.Errorf("%s cannot be asked for %s %s: %s", a.name, c.name, c.value, p.EvidenceOf(c.name))
		}
		cmd.Controls = append(cmd.Controls, c.name)
	}
	agent := runtime.Command{Argv: a.agent(p.Executable.Path)}
	if err := a.addAccess(&agent, req, p); err != nil {
		return runtime.Command{}, err
	}
	argv, err := acp.Turn{
		Agent: agent.Argv, ReadDirs: req.ReadDirs, Access: req.Access, Model: req.Model, Mode: a.def.Mode, Effort: req.Effort, Resume: req.Resume,
	}.Argv(a.self)
	cmd.Argv, cmd.Stdin, cmd.PoliteStop = argv, []byte(req.Prompt), "TERM"
	cmd.Controls = append(cmd.Controls, agent.Controls...)
	return cmd, err
}
