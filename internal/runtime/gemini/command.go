package gemini

import (
	"errors"
	"fmt"
	"slices"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Command implements runtime.Adapter: one run without a terminal, with the prompt
// on stdin, under a policy file made for it.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("gemini was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req); err != nil {
		return runtime.Command{}, err
	}
	if err := probe.ProjectEnv(Name, req, []string{".gemini/.env", ".env"}, []string{"GEMINI_", "GOOGLE_"}); err != nil {
		return runtime.Command{}, err
	}
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return runtime.Command{}, p.NotShown(flag, "run, followed and held to its tools")
		}
	}
	cmd := runtime.Command{
		Env: settings(req.Project), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv:   append([]string{flagStream, flagSkipTrust}, isolationFlags(p)...),
		Limits: []string{ownHooks},
	}
	if text := probe.Instructions(req.Dir, "GEMINI.md"); text != "" && !req.Project {
		cmd.Limits = append(cmd.Limits, text)
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addDirs, addModel, addResume, addPolicy,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// ownHooks is what no flag switches off. Instruction files of the project are read
// too; they are text, which grants nothing.
const ownHooks = "hooks in the user's own settings of gemini run"

// unsupported names what gemini has no means for.
func unsupported(req runtime.Request) error {
	switch {
	case req.Effort != "":
		return fmt.Errorf("effort %q: gemini has no flag for a reasoning depth; leave it out or use another runtime", req.Effort)
	case req.Agent != "":
		return fmt.Errorf("agent %q: gemini has no flag that names an agent; leave it out or use another runtime", req.Agent)
	}
	return nil
}

// addAccess sets the approval mode and names the controls that hold.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch {
	case req.Project:
		cmd.Limits = append(cmd.Limits, "hooks, settings and instructions of the project apply, as the operator allows")
	case p.Has(runtime.ControlNoProject):
		cmd.Controls = append(cmd.Controls, runtime.ControlNoProject)
	default:
		cmd.Limits = append(cmd.Limits, "settings, hooks or tool servers of the project are not kept out")
	}
	switch req.Access {
	case runtime.AccessRead:
		cmd.Argv = append(cmd.Argv, flagAsk)
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit:
		cmd.Argv = append(cmd.Argv, flagAutoEdit)
		return cmd.Use(p, runtime.ControlEditsOnly, "kept to edits in its folder")
	case runtime.AccessShell:
		if !p.Shows(flagAutoEdit) {
			return p.NotShown(flagAutoEdit, "let edit unattended")
		}
		cmd.Argv = append(cmd.Argv, flagAutoEdit)
		return nil
	}
	return fmt.Errorf("gemini knows no access %q", req.Access)
}

// addDirs opens folders outside the cwd. The policy keeps editing tools out of
// them; a shell it cannot.
func addDirs(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	for _, dir := range req.ReadDirs {
		if !p.Shows(flagDirs) {
			return p.NotShown(flagDirs, "given the folder "+dir+" to read")
		}
		if slices.Contains([]byte(dir), ',') {
			return fmt.Errorf("gemini cannot be given the folder %q to read: a comma in its name would make it two; rename it", dir)
		}
		cmd.Argv = append(cmd.Argv, flagDirs+"="+dir)
	}
	return nil
}

func addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model == "" {
		return nil
	}
	if err := cmd.Use(p, runtime.ControlModel, "asked for model "+req.Model); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagModel+"="+req.Model)
	return nil
}

func addResume(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Resume == "" {
		return nil
	}
	if !p.Shows(flagResume) {
		return p.NotShown(flagResume, "continued from an earlier session")
	}
	cmd.Argv = append(cmd.Argv, flagResume+"="+req.Resume)
	return nil
}

// addPolicy comes last: it wraps the whole command line.
func addPolicy(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	tools, err := grantFor(req)
	if err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	if slices.Contains(tools, shell) {
		cmd.Limits = append(cmd.Limits, runtime.LimitShell)
	}
	cmd.Argv = limited(policyFor(tools, req), p.Executable.Path, cmd.Argv)
	return nil
}
