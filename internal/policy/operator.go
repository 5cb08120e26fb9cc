package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// Operator is the configuration of the person who owns the machine. A spec or a
// repository cannot set any of it.
type Operator struct {
	// Enabled names the runtimes that unpinned jobs may be routed to; nil means
	// all that are found installed.
	Enabled []string `yaml:"enabled"`
	// Runtimes says what the operator knows about a runtime.
	Runtimes map[string]RuntimeRule `yaml:"runtimes"`
	// Secrets holds findings that are not secrets.
	Secrets SecretRule `yaml:"secrets"`
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

// maxOperator bounds the configuration file, in bytes.
const maxOperator = 256 << 10

// ParseOperator reads the operator's configuration. Unknown and duplicate keys
// are errors, and so is a second document; an empty file is an empty Operator.
func ParseOperator(data []byte) (Operator, error) {
	var op Operator
	if len(data) > maxOperator {
		return op, fmt.Errorf("the operator's configuration has %d bytes; at most %d are read", len(data), maxOperator)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&op); err != nil {
		if errors.Is(err, io.EOF) {
			return Operator{}, nil
		}
		return Operator{}, fmt.Errorf("the operator's configuration: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Operator{}, errors.New("the operator's configuration: one document is allowed, and more follows it")
	}
	return op, op.validate()
}

func (op Operator) validate() error {
	for _, name := range slices.Sorted(maps.Keys(op.Runtimes)) {
		rule := op.Runtimes[name]
		if err := rule.Capability.validate("runtimes." + name); err != nil {
			return err
		}
		for _, model := range slices.Sorted(maps.Keys(rule.Models)) {
			if err := rule.Models[model].Capability.validate("runtimes." + name + ".models." + model); err != nil {
				return err
			}
		}
	}
	if r := op.WorktreeRoot; r != "" && !filepath.IsAbs(r) && !strings.HasPrefix(r, "~/") {
		return fmt.Errorf("the operator's configuration: worktree_root is %q; write an absolute path or one that begins with ~/", r)
	}
	return nil
}

func (c Capability) validate(where string) error {
	switch c {
	case NoCapability, C1, C2, C3:
		return nil
	}
	return fmt.Errorf("the operator's configuration: %s.capability is %q; allowed are C1, C2 and C3", where, c)
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
