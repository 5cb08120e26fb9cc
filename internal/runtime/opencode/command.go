package opencode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Command implements runtime.Adapter: one `run` with the prompt on stdin, since
// the program puts words of its command line into quotes. Values are joined to
// their flags with "=". There is no polite signal: it ends at any, and leaves its
// tools' processes to whoever catches them.
func (a Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, fmt.Errorf("%s was not found by the probe, so there is no program to run", a.about.name)
	}
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return runtime.Command{}, p.NotShown(flag, "followed")
		}
	}
	// A program of this make reads such files before it has read its own settings.
	files := []string{".env", ".env.local", ".env.development", ".env.production"}
	if err := probe.ProjectEnv(a.about.name, req, files, []string{a.about.prefix, "ANTHROPIC_", "OPENAI_"}); err != nil {
		return runtime.Command{}, err
	}
	cmd := runtime.Command{
		Env: a.about.quiet(), Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: a.about.name},
		Answer: runtime.AnswerFromStream,
		Argv:   append([]string{p.Executable.Path, "run", flagJSON}, pure(p)...),
	}
	if p.Shows(flagDir) {
		cmd.Argv = append(cmd.Argv, flagDir+"="+req.Dir)
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		a.about.addAccess, a.about.addTable, a.about.addModel, a.about.addAgent, a.about.addResume,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	return cmd, nil
}

// addAccess names the controls that hold.
func (b about) addAccess(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if err := cmd.Use(p, runtime.ControlNoProject, "kept from the project's own configuration"); err != nil {
		return err
	}
	file, err := b.brings(req.Dir)
	switch {
	case err != nil:
		return err
	case file != "" && !req.Project:
		return fmt.Errorf("%s cannot be bounded in %s: it would load code that %s brings or names, and no flag keeps that out; let the job work elsewhere, use another runtime, or allow it in the operator's configuration: runtimes: {%s: {project: true}}",
			b.name, req.Dir, file, b.name)
	case file != "":
		cmd.Limits = append(cmd.Limits, "code that "+file+" brings or names runs, as the operator allows")
	}
	switch req.Access {
	case runtime.AccessRead:
		return cmd.Use(p, runtime.ControlReadOnly, "kept from writing")
	case runtime.AccessEdit:
		if err := closedIn(req.Dir); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		return cmd.Use(p, runtime.ControlEditsOnly, "kept to edits in its folder")
	case runtime.AccessShell:
		if !p.Shows(shellKey) {
			return fmt.Errorf("%s cannot be given a shell: its agent list does not show that a permission table can grant one; use another runtime", b.name)
		}
		cmd.Limits = append(cmd.Limits, runtime.LimitShell)
		return nil
	}
	return fmt.Errorf("%s knows no access %q", b.name, req.Access)
}

// addTable gives the permission table of the job.
func (b about) addTable(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if err := cmd.Use(p, runtime.ControlToolLimits, "limited to its tools"); err != nil {
		return err
	}
	if scoped(req) && !p.Shows(plainKey) {
		return fmt.Errorf("%s cannot be given a tool rule with a pattern: those of its own configuration would be merged with it; name whole tools", b.name)
	}
	t, err := tableFor(req, projectRoot(req.Dir))
	if err != nil {
		return fmt.Errorf("%s: %w", b.name, err)
	}
	cmd.Env = append(cmd.Env, b.permission(t))
	return nil
}

func (b about) addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model != "" {
		if _, listed := p.ModelNamed(req.Model); !listed && !p.ModelsPartial {
			return fmt.Errorf("%s does not list model %q", b.name, req.Model)
		}
		if err := cmd.Use(p, runtime.ControlModel, "asked for model "+req.Model); err != nil {
			return err
		}
		cmd.Argv = append(cmd.Argv, flagModel+"="+req.Model)
	}
	if req.Effort == "" {
		return nil
	}
	if err := p.CheckEffort(req.Model, req.Effort); err != nil {
		return err
	}
	if err := cmd.Use(p, runtime.ControlEffort, "asked for effort "+req.Effort); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagVariant+"="+req.Effort)
	return nil
}

// addAgent asks for an agent that the list shows and that keeps to the table: an
// agent may have permissions of its own.
func (b about) addAgent(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Agent == "" {
		return nil
	}
	var known []string
	for _, a := range p.Agents {
		known = append(known, a.Name)
	}
	if !slices.Contains(known, req.Agent) {
		return fmt.Errorf("%s lists no agent %q; it lists: %s", b.name, req.Agent, cmp.Or(strings.Join(known, ", "), "none"))
	}
	tried := req.Access
	if tried == runtime.AccessShell {
		tried = runtime.AccessEdit // the widest table that agents are listed under
	}
	if !p.Shows(heldKey(tried, req.Agent)) {
		return fmt.Errorf("agent %q of %s is not shown to keep to the table for %q access: it has permissions of its own", req.Agent, b.name, tried)
	}
	if err := cmd.Use(p, runtime.ControlAgent, "asked for agent "+req.Agent); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, flagAgent+"="+req.Agent)
	return nil
}

func (b about) addResume(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	switch {
	case req.Resume == "":
		return nil
	case !strings.HasPrefix(req.Resume, sessionPrefix):
		return errors.New("a session id of " + b.name + " begins with " + sessionPrefix)
	case !p.Shows(flagSession):
		return p.NotShown(flagSession, "continued from an earlier session")
	}
	cmd.Argv = append(cmd.Argv, flagSession+"="+req.Resume)
	return nil
}

// sessionPrefix begins every session id.
const sessionPrefix = "ses_"
