package copilot

import (
	"errors"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
)

// Command implements runtime.Adapter: one run with the prompt on stdin. Values are
// joined to their flags with "=", because several flags take any number of words
// and would swallow what follows.
//
// The polite signal goes to the group: what npm installs is a launcher, which
// alone would leave the agent running.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("copilot was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req, p); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv:   []string{p.Executable.Path, flagJSON},
		Limits: []string{"settings of the project are not shown to be kept out"},
	}
	for _, flag := range plainFlags() {
		if p.Shows(flag) && (flag != flagNoInstructions || !req.Project) {
			cmd.Argv = append(cmd.Argv, flag)
		}
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addTools, addReadDirs, addModel, addResume,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// unsupported names what copilot has no means for.
func unsupported(req runtime.Request, p runtime.Profile) error {
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return p.NotShown(flag, "followed and limited")
		}
	}
	switch {
	case req.Agent != "":
		return fmt.Errorf("agent %q cannot be checked: %s; leave it out or use another runtime", req.Agent, p.EvidenceOf(runtime.ControlAgent))
	case req.Effort != "":
		return fmt.Errorf("effort %q cannot be checked: %s; leave it out or use another runtime", req.Effort, p.EvidenceOf(runtime.ControlEffort))
	}
	return nil
}

// addAccess names the control that holds for the access.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	trusted := trustedAbove(p, req.Dir)
	switch req.Access {
	case runtime.AccessRead, runtime.AccessEdit:
		if trusted != "" {
			return fmt.Errorf("copilot cannot be bounded in %s: hooks and tool servers of the project are started there, because %s lists %s as trusted; take it off that list, or let the job work elsewhere",
				req.Dir, p.Flags[trustKey(trusted)], trusted)
		}
		if req.Access == runtime.AccessRead {
			return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
		}
		return cmd.Use(p, runtime.ControlEditsOnly, "kept to edits in its folder")
	case runtime.AccessShell:
		cmd.Limits = append(cmd.Limits, runtime.LimitShell)
		if trusted != "" {
			cmd.Limits = append(cmd.Limits, "hooks and tool servers of the project are started, since its folder is trusted")
		}
		hideCredentials(cmd, p)
		return nil
	}
	return fmt.Errorf("copilot knows no access %q", req.Access)
}

// hideCredentials keeps the program's own credentials from its shell.
func hideCredentials(cmd *runtime.Command, p runtime.Profile) {
	if !p.Shows(flagHide) {
		cmd.Limits = append(cmd.Limits, "its shell sees copilot's own credentials in the environment")
		return
	}
	cmd.Argv = append(cmd.Argv, flagHide+"="+strings.Join(credentials(), ","))
}

func addTools(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	g, err := grantFor(req)
	if err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	for _, list := range []struct {
		flag  string
		rules []string
	}{{flagTools, g.offered}, {flagAllow, g.allowed}, {flagDeny, g.denied}} {
		if len(list.rules) > 0 && !p.Shows(list.flag) {
			return p.NotShown(list.flag, "given the tool rules "+strings.Join(list.rules, ", "))
		}
		for _, rule := range list.rules {
			cmd.Argv = append(cmd.Argv, list.flag+"="+rule)
		}
	}
	return nil
}

// addReadDirs opens folders outside the cwd. What may be read there may be edited
// too by a job that edits, and no rule takes that back for a whole folder.
func addReadDirs(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if len(req.ReadDirs) == 0 {
		return nil
	}
	switch {
	case !p.Shows(flagAddDir):
		return p.NotShown(flagAddDir, "given folders outside its own to read")
	case req.Access == runtime.AccessEdit:
		return fmt.Errorf("copilot cannot be given %s to read and be kept from editing there: %s opens a folder for both; use another runtime, or copy what is needed into the job's folder",
			strings.Join(req.ReadDirs, ", "), flagAddDir)
	case req.Access == runtime.AccessShell:
		cmd.Limits = append(cmd.Limits, "folders given to read can be edited too")
	}
	cmd.Limits = append(cmd.Limits, "skills and agents of the folders given to read are loaded as trusted")
	for _, dir := range req.ReadDirs {
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
