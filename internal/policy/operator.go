package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/runtime/custom"
)

// Operator is the configuration of the person who owns the machine. A spec or a
// repository cannot set any of it.
type Operator struct {
	// File is where it was read from, for messages; "" = nowhere.
	File string `yaml:"-"`
	// Enabled names the runtimes that unpinned jobs may be routed to; nil means
	// all that are found installed.
	Enabled []string `yaml:"enabled"`
	// Runtimes says what the operator knows about a runtime.
	Runtimes map[string]RuntimeRule `yaml:"runtimes"`
	// Secrets holds findings that are not secrets.
	Secrets SecretRule `yaml:"secrets"`
	// Sandbox is what the operator says about the engine's own sandbox.
	Sandbox SandboxRule `yaml:"sandbox"`
	// WorktreeRoot is where worktrees go instead of the run directory; absolute, or
	// beginning with ~/ for the home folder. "" = the run directory.
	WorktreeRoot string `yaml:"worktree_root"`
}

// RuntimeRule is what the operator says about one runtime.
type RuntimeRule struct {
	Model      string               `yaml:"model"` // for unpinned jobs; "" = the runtime's live default
	Capability Capability           `yaml:"capability"`
	Family     string               `yaml:"family"`
	Models     map[string]ModelRule `yaml:"models"`
	Agents     map[string]ModelRule `yaml:"agents"`  // internal only: what is known of the hosting session's agents, by name
	Project    bool                 `yaml:"project"` // a project's own hooks and settings may apply to it
	Custom     *custom.Definition   `yaml:"custom"`  // makes it a runtime; nil = a known one
}

// ModelRule is what the operator says about one model of a runtime.
type ModelRule struct {
	Capability Capability `yaml:"capability"`
	Family     string     `yaml:"family"`
}

// SecretRule lists what the secret detector may let through.
type SecretRule struct {
	Allow []string `yaml:"allow"` // fingerprints as the refusal prints them
}

// SandboxRule is the operator's word on the engine's own sandbox. Paths are absolute or
// begin with ~/ for the home folder.
type SandboxRule struct {
	Off      bool     `yaml:"off"`      // jobs and checks run without it; what needs it is blocked
	Writable []string `yaml:"writable"` // that jobs and checks may change besides
	Readable []string `yaml:"readable"` // that they may read although it is denied by default
}

// maxOperator bounds the configuration file, in bytes.
const maxOperator = 256 << 10

// ParseOperator reads the operator's configuration. name is the file's, for messages;
// taken are the names of runtimes that this program has, which no description can
// replace; home is the home folder, "" = not known. Unknown and duplicate keys are errors, and so is a second document; all
// mistakes come back together. An empty file is an empty Operator.
func ParseOperator(name string, data []byte, taken []string, home string) (Operator, error) {
	var op Operator
	if len(data) > maxOperator {
		return op, fmt.Errorf("%s: the operator's configuration has %d bytes; at most %d are read", name, len(data), maxOperator)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(&op)
	switch {
	case errors.Is(err, io.EOF):
		return Operator{}, nil
	case err != nil:
		return Operator{}, unreadable(name, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Operator{}, fmt.Errorf("%s: the operator's configuration is one document, and more follows it", name)
	}
	if mistakes := op.mistakes(taken, home); mistakes != nil {
		return Operator{}, told(name, data, mistakes)
	}
	op.File = name
	return op, nil
}

// mistake is one thing wrong with a configuration that can be read.
type mistake struct {
	path []string
	text string
}

func (op Operator) mistakes(taken []string, home string) (all []mistake) {
	say := func(text string, path ...string) { all = append(all, mistake{path, text}) }
	for _, name := range slices.Sorted(maps.Keys(op.Runtimes)) {
		rule := op.Runtimes[name]
		if text := rule.Capability.mistake(); text != "" {
			say(text, "runtimes", name, "capability")
		}
		for _, model := range slices.Sorted(maps.Keys(rule.Models)) {
			if text := rule.Models[model].Capability.mistake(); text != "" {
				say(text, "runtimes", name, "models", model, "capability")
			}
		}
		all = append(all, rule.agentMistakes(name)...)
		if rule.Custom == nil {
			continue
		}
		if text := nameMistake(name, taken); text != "" {
			say(text, "runtimes", name)
		}
		for _, p := range rule.Custom.Problems() {
			say(p.Text, append([]string{"runtimes", name, "custom"}, strings.Split(p.Field, ".")...)...)
		}
	}
	all = append(all, op.statesMistakes(home)...)
	if r := op.WorktreeRoot; r != "" && !filepath.IsAbs(r) && !strings.HasPrefix(r, "~/") {
		say(fmt.Sprintf("found %q; write an absolute path or one that begins with ~/", r), "worktree_root")
	}
	return append(all, op.Sandbox.mistakes(home)...)
}

func (c Capability) mistake() string {
	switch c {
	case NoCapability, C1, C2, C3:
		return ""
	}
	return fmt.Sprintf("found %q; allowed are C1, C2 and C3", c)
}

var runtimeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// nameMistake says why a described runtime cannot have this name.
func nameMistake(name string, taken []string) string {
	switch {
	case slices.Contains(taken, name):
		return fmt.Sprintf("%s is a runtime that orchestrate knows by itself; give the one that is described here another name", name)
	case slices.Contains([]string{"internal", "arbiter"}, name):
		return fmt.Sprintf("%s means something else in a spec; give the runtime another name", name)
	case !runtimeName.MatchString(name):
		return "the name of a runtime has letters, digits, dots, _ and -, and begins with a letter or digit"
	}
	return ""
}

// Described are the runtimes that the operator describes.
func (op Operator) Described() map[string]custom.Definition {
	all := map[string]custom.Definition{}
	for name, rule := range op.Runtimes {
		if rule.Custom != nil {
			all[name] = *rule.Custom
		}
	}
	return all
}

// Allows reports whether unpinned jobs may be routed to the runtime.
func (op Operator) Allows(runtime string) bool {
	return op.Enabled == nil || slices.Contains(op.Enabled, runtime)
}

// Model is the model that the operator wants for unpinned jobs of the runtime.
func (op Operator) Model(runtime string) string { return op.Runtimes[runtime].Model }

// capability is what the operator says of a model known by any of these names.
func (op Operator) capability(runtime string, models []string) (Capability, string) {
	rule := op.Runtimes[runtime]
	for _, model := range models {
		if c := rule.Models[model].Capability; c != NoCapability {
			return c, "runtimes." + runtime + ".models." + model
		}
	}
	return rule.Capability, "runtimes." + runtime
}

func (op Operator) family(runtime string, models []string) (string, string) {
	rule := op.Runtimes[runtime]
	for _, model := range models {
		if f := rule.Models[model].Family; f != "" {
			return f, "runtimes." + runtime + ".models." + model
		}
	}
	return rule.Family, "runtimes." + runtime
}
