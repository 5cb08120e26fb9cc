package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
)

// Command implements runtime.Adapter: one `codex exec` with the prompt on stdin.
// All flags stand before `resume`, which has none for the sandbox and does not
// take over that of the session it continues.
func (Adapter) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	if p.Executable == nil {
		return runtime.Command{}, errors.New("codex was not found by the probe, so there is no program to run")
	}
	if err := unsupported(req); err != nil {
		return runtime.Command{}, err
	}
	for _, flag := range indispensable() {
		if !p.Shows(flag) {
			return runtime.Command{}, fmt.Errorf("codex cannot be run: its help does not show %s", flag)
		}
	}
	cmd := runtime.Command{
		Stdin: []byte(req.Prompt), Decoder: runtime.DecoderSpec{Runtime: Name},
		PoliteStop: "TERM-GROUP", Answer: runtime.AnswerFromStream,
		Argv: []string{p.Executable.Path, "exec", flagJSON},
	}
	for _, add := range []func(*runtime.Command, runtime.Request, runtime.Profile) error{
		addSandbox, addIsolation, addPlace, addModel, addAnswerForm,
	} {
		if err := add(&cmd, req, p); err != nil {
			return runtime.Command{}, err
		}
	}
	if err := addResume(&cmd, req, p); err != nil {
		return runtime.Command{}, err
	}
	cmd.Argv = append(cmd.Argv, "-")
	return cmd, nil
}

// threadID is what an id looks like. Anything else codex takes for the name of a thread, and
// where it knows none it begins a new one, without a word.
var threadID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func addResume(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Resume == "" {
		return nil
	}
	if !p.Shows(wordResume) {
		return p.NotShown(wordResume, "continued from an earlier session")
	}
	if req.Resume != runtime.AnySession && !threadID.MatchString(req.Resume) {
		return fmt.Errorf("%q is not the id of a session of codex, which is a UUID", req.Resume)
	}
	cmd.Argv = append(cmd.Argv, wordResume, req.Resume)
	return nil
}

// unsupported names what codex has no means for.
func unsupported(req runtime.Request) error {
	switch {
	case req.AllowedTools != nil:
		return errors.New("allowed_tools: codex has no flag that limits tools; leave it out or use another runtime")
	case len(req.DisallowedTools) > 0:
		return errors.New("disallowed_tools: codex has no flag that limits tools; leave it out or use another runtime")
	case req.Agent != "":
		return fmt.Errorf("agent %q: codex has no flag that names an agent; leave it out or use another runtime", req.Agent)
	case strings.HasPrefix(req.Resume, "-"), strings.HasPrefix(req.Model, "-"):
		return errors.New("a session id or model name of codex does not begin with a dash")
	}
	return nil
}

func addSandbox(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	control, flag := runtime.ControlOSSandbox, flagWorkspace
	switch req.Access {
	case runtime.AccessRead:
		control, flag = runtime.ControlReadOnly, flagReadOnly
	case runtime.AccessEdit, runtime.AccessShell:
	default:
		return fmt.Errorf("codex knows no access %q", req.Access)
	}
	if !p.Has(control) || !p.Shows(flag) {
		return fmt.Errorf("codex cannot be held to %q access: control %q is not verified: %s", req.Access, control, p.EvidenceOf(control))
	}
	cmd.Argv = append(cmd.Argv, flag)
	cmd.Controls = append(cmd.Controls, control)
	switch req.Access {
	case runtime.AccessRead:
		cmd.Limits = append(cmd.Limits, "may read the whole disk")
		return nil
	case runtime.AccessEdit:
		cmd.Limits = append(cmd.Limits, "has a shell, which the sandbox confines")
	}
	cmd.Limits = append(cmd.Limits, "may read the whole disk")
	cmd.Argv = append(cmd.Argv, boundaryArgs(req.Private)...)
	return nil
}

// addIsolation keeps analytics, plugins, hooks, tool servers and the project's
// own configuration and instruction files out.
func addIsolation(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if bad := unnameable(p); bad != "" {
		return fmt.Errorf("the tool server %s of codex's configuration cannot be switched off by name; rename it with letters and digits only", bad)
	}
	cmd.Argv = append(cmd.Argv, quietArgs(p)...)
	cmd.Argv = append(cmd.Argv, serverArgs(p)...)
	cmd.Argv = append(cmd.Argv,
		"-c", "projects={"+strings.Join(notTrusted(req.Dir), ",")+"}",
		"-c", "project_doc_max_bytes=0")
	if req.Project {
		cmd.Limits = append(cmd.Limits, "the project stays out all the same: the tool servers and hooks of one that is let in would run outside codex's sandbox")
	}
	if p.Has(runtime.ControlNoProject) {
		cmd.Controls = append(cmd.Controls, runtime.ControlNoProject)
	}
	return nil
}

// notTrusted marks dir and every folder above it as not trusted, since the user
// may have trusted the project whose subfolder dir is, and a trusted project's
// configuration may start tool servers outside the sandbox.
func notTrusted(dir string) []string {
	var entries []string
	for {
		entries = append(entries, quoted(dir)+`={trust_level="untrusted"}`)
		parent := filepath.Dir(dir)
		if parent == dir {
			return entries
		}
		dir = parent
	}
}

func addPlace(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if p.Shows(flagNoGit) {
		cmd.Argv = append(cmd.Argv, flagNoGit)
	}
	if p.Shows(flagDir) {
		cmd.Argv = append(cmd.Argv, flagDir, req.Dir)
	}
	return nil
}

func addModel(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.Model != "" {
		if _, listed := p.ModelNamed(req.Model); !listed && !p.ModelsPartial {
			return fmt.Errorf("codex does not list model %q", req.Model)
		}
		if !p.Has(runtime.ControlModel) {
			return fmt.Errorf("codex cannot be asked for model %q: %s", req.Model, p.EvidenceOf(runtime.ControlModel))
		}
		cmd.Argv = append(cmd.Argv, flagModel, req.Model)
	}
	if req.Effort == "" {
		return nil
	}
	if err := p.CheckEffort(req.Model, req.Effort); err != nil {
		return err
	}
	cmd.Argv = append(cmd.Argv, "-c", "model_reasoning_effort="+quoted(req.Effort))
	return nil
}

// addAnswerForm names the file with the schema, which the program reads itself.
func addAnswerForm(cmd *runtime.Command, req runtime.Request, p runtime.Profile) error {
	if req.AnswerSchema == nil {
		return nil
	}
	if err := cmd.Use(p, runtime.ControlAnswerForm, "held to the form of its answer"); err != nil {
		return err
	}
	if !filepath.IsAbs(req.AnswerSchemaAt) {
		return fmt.Errorf("codex reads the schema of the answer from a file, and %q is no absolute path of one", req.AnswerSchemaAt)
	}
	cmd.Argv = append(cmd.Argv, flagSchema, req.AnswerSchemaAt)
	return nil
}

// quoted is s as a TOML basic string, whose escapes JSON's are a part of.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
