// The skill repeats facts that the program owns, so that an agent has them before it runs
// it. They stand in marked blocks that are made from the program here; a block that is not
// what the program says fails, and `make skill` makes them anew.
package plugins_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated blocks of the skill")

const skillDir = "orchestrate/skills/orchestrate"

// facts are the blocks by name.
func facts() map[string]func(t *testing.T) string {
	return map[string]func(t *testing.T) string{
		"version":          versionFact,
		"exit-statuses":    exitStatuses,
		"commands":         commandsAndFlags,
		"capability-tiers": func(t *testing.T) string { return meanings(t, "internal/policy/tiers.go", "Capability", "tier") },
		"risk-tiers":       func(t *testing.T) string { return meanings(t, "internal/policy/tiers.go", "Risk", "tier") },
		"risk-facts":       riskFacts,
		"tasks":            tasks,
		"failures":         failures,
		"blocked":          blockedReasons,
		"runtimes":         runtimes,
		"states":           func(t *testing.T) string { return meanings(t, "internal/runtime/profile.go", "State", "state") },
		"controls":         func(t *testing.T) string { return meanings(t, "internal/runtime/profile.go", "ControlName", "control") },
		"needs":            needs,
		"agents":           agentsFile,
		"request":          requestFile,
		"top-fields":       topFields,
		"budget-fields":    func(t *testing.T) string { return objectFields(t, "budget") },
		"arbiter-fields":   func(t *testing.T) string { return objectFields(t, "arbiter") },
		"job-fields":       jobFields,
	}
}

var block = regexp.MustCompile(`(?s)<!-- generated: ([a-z-]+) -->\n(.*?)<!-- end -->`)

func TestGeneratedFactsAreWhatTheProgramSays(t *testing.T) {
	owned, used := facts(), map[string]string{}
	for _, page := range skillPages(t) {
		text := read(t, page)
		next := block.ReplaceAllStringFunc(text, func(found string) string {
			name := block.FindStringSubmatch(found)[1]
			make, known := owned[name]
			if !known {
				t.Errorf("%s: nothing makes the block %q", page, name)
				return found
			}
			if other := used[name]; other != "" {
				t.Errorf("%s is in %s and in %s: each fact stands in one place", name, other, page)
			}
			used[name] = page
			return "<!-- generated: " + name + " -->\n" + strings.TrimSpace(make(t)) + "\n<!-- end -->"
		})
		if strings.Count(text, "<!-- generated:") != len(block.FindAllString(text, -1)) {
			t.Errorf("%s: a block has no end", page)
		}
		settle(t, page, text, next)
	}
	for name := range owned {
		if used[name] == "" {
			t.Errorf("no page has the block %q", name)
		}
	}
}

// settle writes what is to be there, or says what is not.
func settle(t *testing.T, page, is, wanted string) {
	t.Helper()
	if is == wanted {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(wanted), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, want := strings.Split(is, "\n"), strings.Split(wanted, "\n")
	for i, line := range want {
		if i >= len(have) || have[i] != line {
			old := "(nothing)"
			if i < len(have) {
				old = have[i]
			}
			t.Errorf("%s:%d is behind the program; run `make skill`\n  is      %s\n  should  %s", page, i+1, old, line)
			return
		}
	}
	t.Errorf("%s has more than the program says; run `make skill`", page)
}

// skillPages are all files of the skill.
func skillPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(skillDir + "/references/*.md")
	if err != nil || len(pages) < 7 {
		t.Fatalf("references: %v, %v", pages, err)
	}
	return append([]string{skillDir + "/SKILL.md"}, pages...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
