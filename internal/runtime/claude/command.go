package claude

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// Command implements runtime.Adapter: one print-mode run with the prompt on
// stdin. Values are joined to their flags with "=", because several flags take
// any number of words and would swallow what follows.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("claude was not found by the probe, so there is no program to run")
	}
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return runtime.Command{}, p.NotShown(flag, "followed")
		}
	}
	cmd := runtime.Command{
		Env: quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "INT", Answer: runtime.AnswerFromStream,
		Argv: append([]string{p.Executable.Path, flagPrint, flagStream, flagVerbose}, isolationFlags(p, req.Project)...),
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addTools, addModel, addAgent, addAnswerForm, addResume,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	cmd.CapTurns(req, p, flagTurns)
	return cmd, nil
}

// addAccess sets the permission mode and names the controls that hold.
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
		if req.Leaves {
			cmd.Argv = append(cmd.Argv, flagAppend+"=You may leave files in the folder "+req.Out+" and nowhere else.")
			return cmd.Use(p, runtime.ControlArtifacts, "let leave files in its artifacts folder alone")
		}
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit:
		cmd.Argv = append(cmd.Argv, flagAcceptEdit)
		return cmd.Use(p, runtime.ControlEditsOnly, "kept to edits in its folder")
	case runtime.AccessShell:
		if !p.Shows(flagAcceptEdit) {
			return p.NotShown(flagAcceptEdit, "let edit unattended")
		}
		cmd.Argv = append(cmd.Argv, flagAcceptEdit)
		return nil
	}
	return fmt.Errorf("claude knows no access %q", req.Access)
}

func addTools(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	g, err := grantFor(req)
	if err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagTools+"="+strings.Join(g.offered, ","))
	cmd.Limits = append(cmd.Limits, g.limits...)
	for _, list := range []struct {
		flag  string
		rules []string
	}{{flagAllow, g.allowed}, {flagDeny, g.denied}} {
		if len(list.rules) > 0 && !p.Shows(list.flag) {
			return p.NotShown(list.flag, "given the tool rules "+strings.Join(list.rules, ", "))
		}
		for _, rule := range list.rules {
			cmd.Argv = append(cmd.Argv, list.flag+"="+rule)
		}
	}
	return nil
}

func addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model != "" {
		if err := cmd.Use(p, runtime.ControlModel, "asked for model "+req.Model); err != nil {
			return err
		}
		cmd.Argv = append(cmd.Argv, flagModel+"="+req.Model)
	}
	if req.Effort == "" {
		return nil
	}
	if err := cmd.Use(p, runtime.ControlEffort, "asked for effort "+req.Effort); err != nil {
		return err
	}
	if err := p.CheckEffort(req.Model, req.Effort); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagEffort+"="+req.Effort)
	return nil
}

func addAgent(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Agent == "" {
		return nil
	}
	var names []string
	for _, a := range p.Agents {
		names = append(names, a.Name)
	}
	if !slices.Contains(names, req.Agent) {
		return fmt.Errorf("claude lists no agent %q; it lists: %s", req.Agent, cmp.Or(strings.Join(names, ", "), "none"))
	}
	if err := cmd.Use(p, runtime.ControlAgent, "asked for agent "+req.Agent); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagAgent+"="+req.Agent)
	return nil
}

// addAnswerForm gives the program the schema, for which it offers the agent a tool
// beside those of the grant.
func addAnswerForm(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	return cmd.HoldForm(req, p, flagSchema)
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
