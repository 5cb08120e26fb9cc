package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/skill"
)

// skillReader is a kind of agent and where it looks for skills.
type skillReader struct {
	flag, about string
	variable    string // names its configuration folder, "" = nothing does
	home        string // below the home folder
	project     string // below a workspace root
}

func skillReaders() []skillReader {
	return []skillReader{
		{"claude", "the skills of Claude Code", "CLAUDE_CONFIG_DIR", ".claude/skills", ".claude/skills"},
		{"agents", "the skills of codex and others, in ~/.agents", "", ".agents/skills", ".agents/skills"},
		{"codex", "the skills of codex alone", "CODEX_HOME", ".codex/skills", ".agents/skills"},
	}
}

// skillTargets says which folders of skills are meant.
type skillTargets struct {
	chosen  map[string]*bool // by flag
	project bool
	dir     string
}

func (t *skillTargets) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	t.chosen = map[string]*bool{}
	for _, r := range skillReaders() {
		t.chosen[r.flag] = f.Bool(r.flag, false, r.about)
	}
	f.StringVar(&t.dir, "dir", "", "the folder of skills `D`")
	f.BoolVar(&t.project, "project", false, "in this workspace, not in the home folder")
}

// places are where the skill is meant to go, each once; none where no target is named.
func (t skillTargets) places(sys System) (all []skill.Place, err error) {
	if t.dir != "" && t.project {
		return nil, usageError(errors.New("--dir names the folder itself and goes without --project"))
	}
	add := func(p skill.Place, e error) {
		err = errors.Join(err, e)
		if e == nil && !slices.ContainsFunc(all, func(q skill.Place) bool { return q.Path() == p.Path() }) {
			all = append(all, p)
		}
	}
	for _, r := range skillReaders() {
		if *t.chosen[r.flag] {
			add(r.place(sys, t.project))
		}
	}
	if t.dir != "" {
		add(realPlace(absolute(sys.Cwd, t.dir), "."))
	}
	if err != nil {
		return nil, failure(err)
	}
	return all, nil
}

// place is where one kind of agent looks.
func (r skillReader) place(sys System, project bool) (skill.Place, error) {
	if project {
		return realPlace(workspaceRoot(sys), r.project)
	}
	if dir := environ.Value(sys.Env, r.variable); r.variable != "" && dir != "" {
		p, err := realPlace(absolute(sys.Cwd, dir), "skills")
		if err != nil {
			err = fmt.Errorf("%s: %w", r.variable, err)
		}
		return p, err
	}
	home, err := homeFolder(sys)
	if err != nil {
		return skill.Place{}, err
	}
	return realPlace(home, r.home)
}

// homeFolder is what HOME names; only where it is not set at all, that of the account. Who
// sets it to nothing wants none.
func homeFolder(sys System) (string, error) {
	home, state := environ.Value(sys.Env, "HOME"), "is set and names none"
	if !slices.ContainsFunc(sys.Env, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") }) {
		home, state = sys.Home, "is not set"
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("there is no home folder (HOME %s); name the folder of skills with --dir", state)
	}
	return home, nil
}

// realPlace is a place whose base a person named: a link there is what they meant.
func realPlace(base, below string) (skill.Place, error) {
	dir, err := filepath.EvalSymlinks(base)
	if err != nil {
		return skill.Place{}, fmt.Errorf("%w; make that folder, or check its name", err)
	}
	return skill.Place{Base: dir, Below: below}, nil
}
