package prompts

import (
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"orchestrate/internal/spelling"
)

// Names of the templates.
const (
	Worker    = "worker"
	Verifier  = "verifier"
	FixWorker = "fix-worker"
	Synthesis = "synthesis"
	Planner   = "planner"
)

//go:embed *.md
var files embed.FS

// Template is a prompt with places that are to be filled in.
type Template struct {
	Name string
	Use  string // in one line: who gets it, and what uses it
}

// All are the templates, in the order in which work goes through them.
func All() []Template {
	return []Template{
		{Planner, "makes a job spec of a request; the program fills it in for orchestrate \"a request\""},
		{Worker, "does one task; for you to fill in"},
		{Verifier, "checks what somebody else did; votes and repair add its last section to their verifiers' prompts"},
		{FixWorker, "mends what a verifier found, in the session that did the work; repair fills it in"},
		{Synthesis, "brings results together; the prompt of a join that has none of its own"},
	}
}

// Text is a template as it stands, its variables as {{name}}. The error of an unknown one
// says which there are.
func Text(name string) (string, error) {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		return "", unknown(name)
	}
	return string(text), nil
}

func unknown(name string) error {
	var names []string
	for _, t := range All() {
		names = append(names, t.Name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no prompt %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no prompt %q; there are %s", name, strings.Join(names, ", "))
}

var variable = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)

// Variables are the names that a text has as {{name}}, each once, in their order.
func Variables(text string) (names []string) {
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// Fill is a template with its variables replaced. Values are data: what looks like a
// variable in one stays as it is. A variable without a value is an error, and so is a value
// that the template has no place for.
func Fill(name string, values map[string]string) (string, error) {
	text, err := Text(name)
	if err != nil {
		return "", err
	}
	return fill(name, text, values)
}

func fill(name, text string, values map[string]string) (string, error) {
	want := slices.Sorted(slices.Values(Variables(text)))
	if given := slices.Sorted(maps.Keys(values)); !slices.Equal(want, given) {
		return "", fmt.Errorf("the prompt %s is filled in with %q and has %q", name, given, want)
	}
	return variable.ReplaceAllStringFunc(text, func(v string) string {
		return values[v[2:len(v)-2]]
	}), nil
}
