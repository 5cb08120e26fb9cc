package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// starterModels bounds how many of a runtime's models are written out.
const starterModels = 20

// OperatorStarter is a commented configuration in which nothing is set. What it shows
// of the coding agents that were found is what they said of themselves; no other
// runtime or model is named in it.
func OperatorStarter(found ...runtime.Profile) []byte {
	found = slices.DeleteFunc(slices.Clone(found), func(p runtime.Profile) bool {
		stranger := p.State == runtime.StateUnverified && len(p.Flags) == 0 // its help was not read
		return p.Kind != runtime.KindCLI || p.Version == "" || stranger
	})
	var names, blocks []string
	for _, p := range found {
		names = append(names, p.Runtime)
		blocks = append(blocks, starterBlock(p))
	}
	if len(found) == 0 {
		names, blocks = []string{"NAME"}, []string{starterBlank}
	}
	return []byte(fmt.Sprintf(operatorStarter, strings.Join(names, ", "), strings.Join(blocks, "#\n")))
}

const operatorStarter = `# What the owner of this machine says about runtimes. A job spec cannot set any of this.
# Everything is optional; what is not said here is found out by asking the runtimes.

# Runtimes that jobs without a runtime of their own may be given to.
# Left out: every runtime that is installed and signed in.
# enabled: [%s]

# What you know about a runtime, or about one of its models, that it does not say itself.
# capability: C1 (throughput), C2 (delivery) or C3 (judgment: review, architecture, arbiter).
# family: the maker of the model, so that a review by another maker can be recognised.
# model: for jobs that name none; left out, the runtime's own default.
# project: true lets a project's own hooks and settings apply to it; left out, they do not.
# What follows is what was found when this file was written; orchestrate doctor says what
# is found now.
# runtimes:
%s
# Findings of the secret detector that are no secrets, by the fingerprint it printed.
# secrets:
#   allow: ["rule:0123456789abcdef"]

# The sandbox of this program, if this machine has one (orchestrate doctor says): jobs and
# checks change nothing but their own tree in it, and read no ~/.ssh or the like.
# sandbox:
#   writable: [~/scratch]      # what they may change besides
#   readable: [~/.config/gh]   # what they may read of what is kept from them
#   off: true                  # no sandbox: work that needs one is blocked

# Where worktrees are made instead of the run directory; absolute, or below ~/.
# worktree_root: ~/worktrees
`

// starterBlank stands where no runtime was found.
const starterBlank = `#   NAME:
#     model: NAME
#     capability: C3
#     family: NAME
#     models:
#       NAME: {capability: C2, family: NAME}
`

// starterBlock is one runtime as it was found.
func starterBlock(p runtime.Profile) string {
	var b strings.Builder
	line := func(what, why string) {
		b.WriteString("#   " + what)
		if why != "" {
			b.WriteString("  # " + untrusted.From(why).Line(120))
		}
		b.WriteByte('\n')
	}
	line(yamlName(p.Runtime)+":", "version "+p.Version+", "+string(p.State))
	if !p.Routable() { // what it could not show now would stay true by the operator's word
		line("  # family: NAME", "run this again when it can take jobs")
		return b.String()
	}
	if p.DefaultModel != "" {
		line("  model: "+yamlName(p.DefaultModel), "its own default")
	}
	if p.Capability != "" {
		line("  capability: "+p.Capability, p.CapabilitySource)
	}
	if p.Family != "" {
		line("  family: "+yamlName(p.Family), p.FamilySource)
	} else {
		line("  # family: NAME", "not known: "+p.FamilySource)
	}
	if len(p.Models) > 0 {
		line("  models:", "")
	}
	for i, m := range p.Models {
		if i == starterModels {
			line("    # and more: orchestrate doctor --json "+p.Runtime, "")
			break
		}
		line(fmt.Sprintf("    %s: {capability: %s}", yamlName(m.ID), starterCapability(p, m)), aboutModel(m))
	}
	return b.String()
}

// starterCapability is that of a model as it was found.
func starterCapability(p runtime.Profile, m runtime.Model) Capability {
	c, _ := CapabilityOf(p, m.ID, Operator{})
	return c
}

func aboutModel(m runtime.Model) string {
	var about []string
	if m.Resolved != "" && m.Resolved != m.ID {
		about = append(about, "today "+m.Resolved)
	}
	if len(m.Efforts) > 0 {
		about = append(about, "efforts: "+strings.Join(m.Efforts, ", "))
	}
	return strings.Join(about, "; ")
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)

// yamlName is a name as a YAML scalar that can be nothing but a string.
func yamlName(name string) string {
	switch strings.ToLower(name) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return strconv.Quote(name)
	}
	if plainName.MatchString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}
