package plugins_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/handoff"
	"orchestrate/internal/report"
	"orchestrate/internal/spec"
	"orchestrate/internal/version"
	"orchestrate/plugins"
)

// frontmatter is all that may stand there: what more there is, some agents refuse, and
// others ignore.
type frontmatter struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

func TestTheSkillHasTheFormOfAgentSkills(t *testing.T) {
	text := read(t, skillDir+"/SKILL.md")
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		t.Fatal("SKILL.md does not begin with frontmatter")
	}
	var fm frontmatter
	dec := yaml.NewDecoder(strings.NewReader(head))
	dec.KnownFields(true)
	if err := dec.Decode(&fm); err != nil {
		t.Fatal(err)
	}
	if fm.Name != filepath.Base(skillDir) || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(fm.Name) || len(fm.Name) > 64 {
		t.Errorf("name %q is not that of its folder", fm.Name)
	}
	if n := len([]rune(fm.Description)); n == 0 || n > 1024 || strings.ContainsAny(fm.Description, "<>") {
		t.Errorf("description of %d characters: %q", n, fm.Description)
	}
	for _, trigger := range []string{"in parallel", "fan this out", "be thorough", "second opinion", "several agents", "research", "comparing", "writing"} {
		if !strings.Contains(fm.Description, trigger) {
			t.Errorf("the description does not say %q", trigger)
		}
	}
	if lines := strings.Count(body, "\n"); lines >= 500 {
		t.Errorf("the body has %d lines; at most 499", lines)
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// TestEveryReferenceIsOneStepAway: an agent follows links from SKILL.md, and few go
// further than one.
func TestEveryReferenceIsOneStepAway(t *testing.T) {
	linked := map[string]bool{}
	for _, page := range skillPages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target := filepath.Join(filepath.Dir(page), m[1])
			if !strings.HasPrefix(target, skillDir+"/") {
				t.Errorf("%s links to %s, which a copy of the skill does not have", page, m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if filepath.Base(page) == "SKILL.md" {
				linked[target] = true
			}
		}
	}
	for _, page := range skillPages(t)[1:] {
		if !linked[page] {
			t.Errorf("SKILL.md does not link to %s", page)
		}
	}
	for _, name := range []string{"model-routing", "runtime-matrix", "harness-profiles", "internal-routing", "job-spec", "adapters", "prompts"} {
		if !linked[skillDir+"/references/"+name+".md"] {
			t.Errorf("there is no reference %s", name)
		}
	}
}

// TestTheSkillNamesOnlyWhatTheProgramHas: commands, and the flags given to them.
func TestTheSkillNamesOnlyWhatTheProgramHas(t *testing.T) {
	known := commands(t)
	typed := regexp.MustCompile("(?m)(?:`|^ *)orchestrate ([a-z][a-z-]*)((?: [^`\n#]*)?)")
	flags := regexp.MustCompile(`--[a-z-]+`)
	seen := 0
	for _, page := range skillPages(t) {
		text := block.ReplaceAllString(read(t, page), "")
		for _, m := range typed.FindAllStringSubmatch(text, -1) {
			seen++
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s names `orchestrate %s`, which is no command", page, m[1])
				continue
			}
			can := helpOf(t, m[1], m[2])
			for _, f := range flags.FindAllString(m[2], -1) {
				if !regexp.MustCompile(regexp.QuoteMeta(f) + `\b`).MatchString(can) {
					t.Errorf("%s: `orchestrate %s` has no flag %s", page, m[1], f)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands found", seen)
	}
}

// helpOf is the help of a command, or of the one inside it that is meant.
func helpOf(t *testing.T, command, rest string) string {
	t.Helper()
	text := help(t, command)
	for _, sub := range subcommands(text) {
		if words := strings.Fields(rest); len(words) > 0 && words[0] == sub[1] {
			return help(t, command, sub[1])
		}
	}
	return text
}

func TestTheSpecsThatTheSkillShowsAreValid(t *testing.T) {
	shown := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	n := 0
	for _, page := range skillPages(t) {
		for _, m := range shown.FindAllStringSubmatch(read(t, page), -1) {
			n++
			if _, wrong := spec.Parse("jobs.yaml", []byte(m[1]), spec.Options{Cwd: t.TempDir()}); len(wrong) > 0 {
				t.Errorf("%s:\n%s", page, spec.Format(wrong, []byte(m[1])))
			}
		}
	}
	if n < 2 {
		t.Errorf("only %d specs found", n)
	}
}

func TestTheAgentsFileThatTheSkillShowsIsTaken(t *testing.T) {
	page := skillDir + "/references/internal-routing.md"
	m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(read(t, page))
	if m == nil {
		t.Fatalf("%s shows no file", page)
	}
	var shown handoff.Agents
	dec := json.NewDecoder(strings.NewReader(m[1]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&shown); err != nil || len(shown.Agents) == 0 {
		t.Errorf("%v: %+v", err, shown)
	}
}

// TestTheSkillEndsWithTheBlockThatTheProgramPrints: it names the words by which the block
// is found, and never shows one that could be filled in.
func TestTheSkillEndsWithTheBlockThatTheProgramPrints(t *testing.T) {
	first, _, _ := strings.Cut(report.Report{}.Completion(), "\n")
	text := read(t, skillDir+"/SKILL.md")
	if !strings.Contains(text, "`"+first+"`") {
		t.Errorf("SKILL.md does not name %q", first)
	}
	if strings.Contains(text, "- Arbiter:") {
		t.Error("SKILL.md shows a block that an agent could fill in")
	}
}

// TestThePluginIsOfTheProgramsVersion: an agent updates a plugin when its version changes.
func TestThePluginIsOfTheProgramsVersion(t *testing.T) {
	type manifest struct {
		Name, Version, Description, Source string
		Plugins                            []manifest
	}
	load := func(path string) (m manifest) {
		if err := json.Unmarshal([]byte(read(t, path)), &m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return m
	}
	plugin, market := load("orchestrate/.claude-plugin/plugin.json"), load("../.claude-plugin/marketplace.json")
	if market.Name != "orchestrate" || len(market.Plugins) != 1 {
		t.Fatalf("%+v", market)
	}
	listed := market.Plugins[0]
	if plugin.Name != "orchestrate" || listed.Name != plugin.Name || listed.Description != plugin.Description {
		t.Errorf("%+v and %+v", plugin, listed)
	}
	if plugin.Version != version.Version || listed.Version != version.Version {
		t.Errorf("versions %q and %q, of the program %q", plugin.Version, listed.Version, version.Version)
	}
	if _, err := os.Stat(filepath.Join("..", listed.Source, ".claude-plugin", "plugin.json")); err != nil {
		t.Error(err)
	}
}

func TestTheProgramCarriesTheWholeSkill(t *testing.T) {
	carried, err := plugins.Skill()
	if err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(skillDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(skillDir, path)
		if err != nil {
			return err
		}
		f, err := carried.Open(filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		return f.Close()
	}); err != nil {
		t.Error(err)
	}
}
