package qwen

import (
	"errors"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Command implements runtime.Adapter: one run with the prompt on stdin. There is
// no word beside the flags, because several of them take any number of words and
// would swallow it; values are joined to their flags with "=".
//
// The polite signal goes to the group: the program starts itself once more, and
// the first process alone would leave the agent running.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("qwen was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req, p); err != nil {
		return runtime.Command{}, err
	}
	if err := probe.ProjectEnv(Name, req, []string{".qwen/.env", ".env"}, envPrefixes()); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv:   append([]string{p.Executable.Path, flagStream}, safeArgs()...),
		Limits: []string{"settings of the project are not shown to be kept out"},
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addAccess, addTools, addReadDirs, addModel, addAnswerForm, addResume,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	cmd.CapTurns(req, p, flagTurns)
	return cmd, nil
}

// envPrefixes begin the variables by which its services are chosen.
func envPrefixes() []string {
	return []string{"QWEN_", "OPENAI_", "ANTHROPIC_", "DASHSCOPE_", "BAILIAN_", "GEMINI_", "GOOGLE_"}
}

// unsupported names what qwen has no means for.
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
		return fmt.Errorf("effort %q: %s; leave it out or use another runtime", req.Effort, p.EvidenceOf(runtime.ControlEffort))
	}
	return nil
}

// addAccess sets the approval mode and names the control that holds, if one does.
func addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch req.Access {
	case runtime.AccessRead:
		cmd.Argv = append(cmd.Argv, flagAsk)
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit, runtime.AccessShell:
		if !p.Shows(flagAutoEdit) {
			return p.NotShown(flagAutoEdit, "let edit unattended")
		}
		cmd.Argv = append(cmd.Argv, flagAutoEdit)
		cmd.Limits = append(cmd.Limits, "edits are not shown to stay in their folder")
	default:
		return fmt.Errorf("qwen knows no access %q", req.Access)
	}
	if req.Access == runtime.AccessShell {
		cmd.Limits = append(cmd.Limits, runtime.LimitShell)
	}
	return nil
}

func addTools(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	g, err := grantFor(req)
	if err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	if len(g.allowed) > 0 && !p.Shows(flagAllow) {
		return p.NotShown(flagAllow, "given the tools "+strings.Join(g.allowed, ", "))
	}
	for _, tool := range g.excluded {
		cmd.Argv = append(cmd.Argv, flagExclude+"="+tool)
	}
	for _, tool := range g.allowed {
		cmd.Argv = append(cmd.Argv, flagAllow+"="+tool)
	}
	return nil
}

// addReadDirs opens folders outside the cwd. The flag adds them to the workspace,
// which is for reading only as long as the job may only read.
func addReadDirs(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if len(req.ReadDirs) == 0 {
		return nil
	}
	if !p.Shows(flagAddDir) {
		return p.NotShown(flagAddDir, "given folders outside its own to read")
	}
	for _, dir := range req.ReadDirs {
		if strings.Contains(dir, ",") {
			return fmt.Errorf("qwen cannot be given the folder %q to read: the comma in its name would make it two; rename it", dir)
		}
		cmd.Argv = append(cmd.Argv, flagAddDir+"="+dir)
	}
	if req.Access != runtime.AccessRead {
		cmd.Limits = append(cmd.Limits, "folders given to read can be edited too")
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

// addAnswerForm gives the program the schema, for which it offers the agent a tool
// that no list of tools takes away.
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
