package cursor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrate/internal/runtime"
)

// Command implements runtime.Adapter: one run without a terminal, in the mode that
// only reads.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("agent (Cursor) was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req, p); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: quiet(), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv: []string{p.Executable.Path, flagPrint, flagStream, flagTrust},
		Limits: []string{
			"built from public documentation, not proven by a run",
			"hooks and rules in the user's own settings of Cursor apply",
		},
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addReadDirs, addModel, addResume, addPrompt,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// unsupported names what Cursor's agent has no means for.
func unsupported(req runtime.Request, p runtime.Profile) error {
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return p.NotShown(flag, "started, followed and kept from writing")
		}
	}
	switch {
	case req.Agent != "":
		return fmt.Errorf("agent %q: %s; leave it out or use another runtime", req.Agent, p.EvidenceOf(runtime.ControlAgent))
	case req.Effort != "":
		return fmt.Errorf("effort %q: %s; leave it out and pin such a model, or use another runtime", req.Effort, p.EvidenceOf(runtime.ControlEffort))
	case req.AllowedTools != nil, len(req.DisallowedTools) > 0:
		return fmt.Errorf("agent (Cursor) cannot be limited to tools by name: %s; leave them out or use another runtime", p.EvidenceOf(runtime.ControlToolLimits))
	}
	return nil
}

// addAccess sets the mode and names the control that holds. Only reading can be
// allowed.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch req.Access {
	case runtime.AccessRead:
		if err := bringsHooks(req.Dir); err != nil && !req.Project {
			return err
		} else if err != nil {
			cmd.Limits = append(cmd.Limits, "hooks of the project run, as the operator allows")
		}
		cmd.Argv = append(cmd.Argv, flagAsk)
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit, runtime.AccessShell:
		return fmt.Errorf("agent (Cursor) cannot be let write: %s; use another runtime", noEdits)
	}
	return fmt.Errorf("agent (Cursor) knows no access %q", req.Access)
}

// bringsHooks refuses a folder of a project that has hooks, of Cursor or of Claude
// Code, which Cursor can be set to run too. They are looked for up to the folder
// that holds .git.
func bringsHooks(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{".cursor/hooks.json", ".claude/settings.json", ".claude/settings.local.json"} {
			file := filepath.Join(at, filepath.FromSlash(name))
			if there, err := exists(file); err != nil || there {
				return errors.Join(err, fmt.Errorf("agent (Cursor) cannot be bounded in %s: hooks that %s may name would run there, and no flag keeps them out; let the job work elsewhere or use another runtime", dir, file))
			}
		}
		root, err := exists(filepath.Join(at, ".git"))
		if err != nil {
			return fmt.Errorf("agent (Cursor) cannot be bounded in %s: whether hooks would run is not known: %w", dir, err)
		}
		if root || filepath.Dir(at) == at {
			return nil
		}
	}
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// addReadDirs opens folders outside the cwd, which the mode keeps from being written.
func addReadDirs(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	for _, dir := range req.ReadDirs {
		if !p.Shows(flagAddDir) {
			return p.NotShown(flagAddDir, "given "+dir+" to read")
		}
		cmd.Argv = append(cmd.Argv, flagAddDir+"="+dir)
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
