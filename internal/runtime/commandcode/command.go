package commandcode

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Command implements runtime.Adapter: one run without a terminal, with the prompt
// on stdin, behind a gate made for it. Values are joined to their flags with "=".
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("command-code was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req, p); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv:   base(p),
		Limits: []string{ownPrograms},
	}
	if text := probe.Instructions(req.Dir, "AGENTS.md", "CLAUDE.md"); text != "" && !req.Project {
		cmd.Limits = append(cmd.Limits, text)
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addModel, addResume, addTurns, addGate,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// ownPrograms is what no flag switches off.
const ownPrograms = "hooks, mods and tool servers in the user's own settings of command-code run"

// unsupported names what command-code has no means for.
func unsupported(req runtime.Request, p runtime.Profile) error {
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return p.NotShown(flag, "followed and limited")
		}
	}
	switch {
	case req.Agent != "":
		return fmt.Errorf("agent %q: %s; leave it out or use another runtime", req.Agent, p.EvidenceOf(runtime.ControlAgent))
	case req.Effort != "":
		return fmt.Errorf("effort %q cannot be checked: %s; leave it out or use another runtime", req.Effort, p.EvidenceOf(runtime.ControlEffort))
	}
	for _, dir := range req.ReadDirs {
		if !within(req.Dir, dir) {
			return fmt.Errorf("command-code cannot be given %s to read: without a terminal it refuses to read outside its folder, whatever its command line says; use another runtime", dir)
		}
	}
	return nil
}

func within(folder, dir string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// addAccess names the control that holds. Only reading can be allowed.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch req.Access {
	case runtime.AccessRead:
		if err := bringsPrograms(req.Dir); err != nil && !req.Project {
			return err
		} else if err != nil {
			cmd.Limits = append(cmd.Limits, "hooks and tool servers of the project run, as the operator allows")
		}
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit, runtime.AccessShell:
		return fmt.Errorf("command-code cannot be let %s: %s; use another runtime", verb(req.Access), noEdits)
	}
	return fmt.Errorf("command-code knows no access %q", req.Access)
}

func verb(access runtime.Access) string {
	if access == runtime.AccessEdit {
		return "edit"
	}
	return "edit and run commands"
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
	if !p.Shows(flagSession) {
		return p.NotShown(flagSession, "continued from an earlier session")
	}
	cmd.Argv = append(cmd.Argv, flagSession+"="+req.Resume)
	return nil
}

func addTurns(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	cmd.CapTurns(req, p, flagTurns)
	return nil
}

// addGate comes last: it wraps the whole command line.
func addGate(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	tools, err := grantFor(req)
	if err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	cmd.Argv = append([]string{shell}, gated(gateFor(tools, ""), p.Executable.Path, cmd.Argv)...)
	return nil
}
