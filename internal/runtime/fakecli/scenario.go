package fakecli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"orchestrate/internal/runtime/standin/script"
)

// Scenario is how the fake behaves.
type Scenario struct {
	SignedOut bool              `yaml:"signed_out"`
	HideFlags []string          `yaml:"hide_flags"`
	OpenBox   bool              `yaml:"open_sandbox"`
	Hang      []string          `yaml:"hang"`
	Answers   map[string]string `yaml:"answers"`
	Models    []Model           `yaml:"models"`
	Agents    []string          `yaml:"agents"`
	Sessions  bool              `yaml:"sessions"`
	Renews    bool              `yaml:"renews"`
	Runs      []Run             `yaml:"runs"`
}

// Model is one entry of the fake's live list.
type Model struct {
	ID       string   `yaml:"id"`
	Resolved string   `yaml:"resolved"`
	Efforts  []string `yaml:"efforts"`
	Default  bool     `yaml:"default"`
}

// Run is what the fake does for a prompt.
type Run struct {
	Match        string        `yaml:"match"` // a part of the prompt; "" = any
	UnlessExists string        `yaml:"unless_exists"`
	Once         string        `yaml:"once"`
	Recall       string        `yaml:"recall"`
	Broken       string        `yaml:"broken"`
	Steps        []script.Step `yaml:"steps"`
}

// load reads the scenario of the executable called argv0.
func load(argv0 string) (Scenario, error) {
	s := Scenario{}
	data, path, err := find(argv0)
	if err != nil {
		return s, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Models) == 0 {
		s.Models = []Model{{ID: "fake", Resolved: "fake-1", Efforts: []string{"low", "high"}, Default: true}}
	}
	var errs []error
	for i, r := range s.Runs {
		errs = append(errs, script.Validate(fmt.Sprintf("runs[%d].steps", i), r.Steps)...)
		_, err := regexp.Compile(r.Recall)
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// find reads the first scenario file that is there.
func find(argv0 string) (data []byte, path string, err error) {
	if named := os.Getenv("FAKECLI_SCENARIO"); named != "" {
		data, err = os.ReadFile(named)
		return data, named, err
	}
	for _, path := range [...]string{
		filepath.Join(filepath.Dir(argv0), "fakecli.yaml"), filepath.Join(os.Getenv("HOME"), ".fakecli.yaml"),
	} {
		data, err := os.ReadFile(path)
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return data, path, err
		}
	}
	return nil, "", nil
}

// run picks what to do for a prompt in a conversation; without a match there is nothing
// to do but to answer.
func (s Scenario) run(prompt string, in *session) Run {
	for _, r := range s.Runs {
		if !strings.Contains(prompt, r.Match) || there(r.UnlessExists) {
			continue
		}
		if r.Recall != "" {
			said := in.recalled(regexp.MustCompile(r.Recall))
			if said == "" {
				continue
			}
			r.Steps = append(slices.Clone(r.Steps), script.Step{Answer: &said})
		}
		if r.Once == "" || made(r.Once) {
			return r
		}
	}
	return Run{}
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// made reports whether this process is the one that makes the file.
func made(file string) bool {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// preset is the model that answers when none is asked for.
func (s Scenario) preset() Model {
	if i := slices.IndexFunc(s.Models, func(m Model) bool { return m.Default }); i >= 0 {
		return s.Models[i]
	}
	return s.Models[0]
}

// resolved is what a model's name on the command line stands for.
func (s Scenario) resolved(name string) string {
	m := s.preset()
	if name != "" {
		m = Model{ID: name}
	}
	for _, known := range s.Models {
		if known.ID == m.ID {
			m = known
		}
	}
	if m.Resolved == "" {
		return m.ID
	}
	return m.Resolved
}

// help leaves out what the scenario hides: each option's line and description.
func (s Scenario) help(text string) string {
	var kept []string
	hiding := false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.HasPrefix(trimmed, "-") && indent <= 8:
			hiding = slices.ContainsFunc(s.HideFlags, func(f string) bool { return defines(trimmed, f) })
		case trimmed != "" && indent == 0:
			hiding = false
		}
		if !hiding {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// defines says whether an option line is that of the flag.
func defines(line, flag string) bool {
	column, _, _ := strings.Cut(line, "  ")
	for field := range strings.FieldsSeq(column) {
		if strings.TrimRight(field, ",") == flag {
			return true
		}
	}
	return false
}
