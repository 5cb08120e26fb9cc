package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
)

// OfSpec names a spec, or is one.
type OfSpec struct {
	Spec     string  `json:"spec,omitempty" jsonschema:"path of a spec file; either this or specYaml"`
	SpecYAML string  `json:"specYaml,omitempty" jsonschema:"the text of a spec (YAML or JSON); it is kept as a file beside the runs of the workspace, where its relative paths start"`
	Agents   []Agent `json:"agents,omitempty" jsonschema:"your own agents that can take jobs with runtime: internal; say only what you know of them"`
	Host     string  `json:"host,omitempty" jsonschema:"name of your program, where agents are given"`
	Internal bool    `json:"internal,omitempty" jsonschema:"let jobs that name no runtime go to these agents too"`
}

// Agent is an agent of the session that calls. What is left out is unknown, and proves
// nothing.
type Agent struct {
	Name        string   `json:"name" jsonschema:"as you call it when you start it"`
	Description string   `json:"description,omitempty" jsonschema:"what it is good at"`
	Tools       []string `json:"tools,omitempty" jsonschema:"all of its tools; [\"*\"] = all of yours; left out = unknown"`
	Model       string   `json:"model,omitempty" jsonschema:"its model, if you know"`
	Access      string   `json:"access,omitempty" jsonschema:"the most that its tools can do: read, edit or shell"`
	Boundary    string   `json:"boundary,omitempty" jsonschema:"what holds it, in your words"`
	General     bool     `json:"general,omitempty" jsonschema:"it takes any task"`
}

// agents is the file of --agents, "" = the session said nothing of its own.
func (o OfSpec) agents() (string, error) {
	if len(o.Agents) == 0 {
		return "", nil
	}
	data, err := json.Marshal(struct {
		SchemaVersion int     `json:"schemaVersion"`
		Host          string  `json:"host,omitempty"`
		Agents        []Agent `json:"agents"`
	}{1, o.Host, o.Agents})
	return string(data), err
}

// specsDir is where specs are that were handed over as text, below the folder of runs. It
// hides itself from git: a file more in the checkout would be a change during the runs that
// go on.
const specsDir = "specs"

// mostSpec is what a spec may have, in bytes; more is refused wherever it comes from.
const mostSpec = 4 << 20

// file is the path of the spec; made says that it was written here and now.
func (o OfSpec) file(c call) (path string, made bool, err error) {
	switch {
	case (o.Spec == "") == (o.SpecYAML == ""):
		return "", false, errors.New("give either spec (the path of a file) or specYaml (its text); `orchestrate schema` prints what a spec may say")
	case o.Spec != "" && filepath.IsAbs(o.Spec):
		return o.Spec, false, nil
	case o.Spec != "":
		return filepath.Join(c.cwd, o.Spec), false, nil
	case len(o.SpecYAML) > mostSpec:
		return "", false, fmt.Errorf("specYaml has %d bytes, more than the %d that a spec may have: put long prompts into files (prompt_file)", len(o.SpecYAML), mostSpec)
	}
	if err := c.host.Checked(c.cwd, o.SpecYAML); err != nil {
		return "", false, fmt.Errorf("specYaml was not written down: %w\nnext: take it out of the text; a job gets a secret by env_allow, never by its prompt", err)
	}
	path = filepath.Join(c.root(), filepath.FromSlash(ledger.ReportsDir), specsDir, nameOf(o.SpecYAML))
	made, err = keep(path, []byte(o.SpecYAML))
	if err != nil {
		return "", false, fmt.Errorf("specYaml cannot be kept as a file: %w\nnext: write it to a file yourself and give its path as spec", err)
	}
	return path, made, nil
}

// nameOf is the name of the file that a spec's text is kept in: the same for the same.
func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "spec-" + hex.EncodeToString(sum[:6]) + ".yaml"
}

// keep writes a file unless it is there already, as it is. Nobody ever sees a part of it.
func keep(path string, data []byte) (made bool, err error) {
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, data) {
		return false, nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	err = create(filepath.Join(dir, ".gitignore"), []byte("*\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	err = create(path, data)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, data) {
		return false, errors.Join(fmt.Errorf("%s is there and says something else", path), err)
	}
	return false, nil
}

// create makes a file that is not there yet: written under another name, it is there as a
// whole or not at all.
func create(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// args are those that plan and run share, and the standard input that goes with them.
func (o OfSpec) args() (args []string, in string, err error) {
	if o.Internal {
		args = append(args, "--internal")
	}
	if in, err = o.agents(); in != "" {
		args = append(args, "--agents", "-")
	}
	return args, in, err
}

// refusal is what is wrong with a spec, as `--json` prints it; "" = that is not printed.
func refusal(out string) string {
	var doc struct {
		Diagnostics []struct {
			File, Field, Message string
			Line, Col            int
		} `json:"diagnostics"`
	}
	if json.Unmarshal([]byte(out), &doc) != nil {
		return ""
	}
	var text strings.Builder
	some, more := few(doc.Diagnostics, mostErrors/2)
	for _, d := range some {
		if d.Field != "" {
			d.Field += ": "
		}
		fmt.Fprintf(&text, "%s:%d:%d: %s%s\n", d.File, d.Line, d.Col, d.Field, d.Message)
	}
	if more > 0 {
		fmt.Fprintf(&text, "and %d more\n", more)
	}
	return text.String()
}

// refused is the error of plan and start for a spec that is not taken. A file that was
// made of its text goes again: nobody needs it.
func refused(tool string, o Outcome, path string, made bool) error {
	if o.Exit == exitUsage && made {
		if err := os.Remove(path); err == nil {
			path += " (your specYaml; not kept)"
		}
	}
	text := refusal(o.Out)
	if text == "" {
		return failed(tool, o, "")
	}
	text, _ = cut(text, mostErrors, "orchestrate plan in a terminal")
	return fmt.Errorf("the spec %s cannot be taken, so %s did nothing (exit status %d):\n%snext: put these right, all of them, and call %s again", path, tool, o.Exit, text, tool)
}
