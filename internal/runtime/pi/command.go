package pi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// Command implements runtime.Adapter: one run with the prompt on stdin, where
// neither a leading dash nor "@" means anything.
//
// The polite signal is SIGTERM: at SIGINT the program leaves its shells running.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("pi was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req, p); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM", Answer: runtime.AnswerFromStream,
		Argv: append(append([]string{p.Executable.Path}, spelled(flagJSON)...), ownArgs(p)...),
	}
	if req.Project {
		cmd.Argv = slices.DeleteFunc(cmd.Argv, func(arg string) bool { return arg == flagNoContext })
		cmd.Limits = append(cmd.Limits, "the project's instructions apply, as the operator allows; its extensions and tool servers do not")
	}
	cmd.Argv = append(cmd.Argv, flagSessionDir, sessions)
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addTools, addModel, addEffort, addResume,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// unsupported names what pi has no means for, or does unasked.
func unsupported(req runtime.Request, p runtime.Profile) error {
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return p.NotShown(flag, "followed and limited")
		}
	}
	if req.Agent != "" {
		return fmt.Errorf("agent %q: %s; leave it out or use another runtime", req.Agent, p.EvidenceOf(runtime.ControlAgent))
	}
	return leftAlone(req.Dir)
}

// addAccess names the control that holds, if one does; the tools do the rest.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch req.Access {
	case runtime.AccessRead:
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit:
		cmd.Limits = append(cmd.Limits, runtime.LimitEdits)
	case runtime.AccessShell:
		cmd.Limits = append(cmd.Limits, runtime.LimitEdits, runtime.LimitShell)
	default:
		return fmt.Errorf("pi knows no access %q", req.Access)
	}
	return nil
}

func addTools(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	tools, err := granted(req)
	if err != nil {
		return err
	}
	for _, name := range []runtime.ControlName{runtime.ControlToolLimits, runtime.ControlNoProject} {
		if err := cmd.Use(p, name, "limited to its tools"); err != nil {
			return err
		}
	}
	if len(tools) > 0 {
		cmd.Argv = append(append(cmd.Argv, spelled(flagTools)...), strings.Join(tools, ","))
		return nil
	}
	if !p.Shows(flagNoTools) {
		return p.NotShown(flagNoTools, "left without any tool")
	}
	cmd.Argv = append(cmd.Argv, flagNoTools)
	return nil
}

// addModel takes only what is listed: the program passes any other name on to the
// provider, or takes a listed model whose name is like it.
func addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model == "" {
		return nil
	}
	if err := cmd.Use(p, runtime.ControlModel, "asked for model "+req.Model); err != nil {
		return err
	}
	if _, listed := p.ModelNamed(req.Model); !listed {
		return fmt.Errorf("model %q is not one that pi lists; it wants provider and name, such as %q", req.Model, p.DefaultModel)
	}
	cmd.Argv = append(cmd.Argv, flagModel, req.Model)
	return nil
}

func addEffort(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Effort == "" {
		return nil
	}
	if err := cmd.Use(p, runtime.ControlEffort, "asked for effort "+req.Effort); err != nil {
		return err
	}
	if err := p.CheckEffort(req.Model, req.Effort); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagThinking, req.Effort)
	return nil
}

// addResume takes only what is an id: the program would read anything else as the
// path of a file.
func addResume(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch {
	case req.Resume == "":
		return nil
	case !p.Shows(flagSession):
		return p.NotShown(flagSession, "continued from an earlier session")
	case strings.Trim(req.Resume, letters+digits+"-_") != "" || strings.HasPrefix(req.Resume, "-"):
		return fmt.Errorf("%q is not the id of a session of pi", req.Resume)
	}
	cmd.Argv = append(cmd.Argv, flagSession, req.Resume)
	return nil
}
