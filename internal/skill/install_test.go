package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	older = Skill{Version: "1", Files: map[string][]byte{
		"SKILL.md": []byte("one\n"), "references/a.md": []byte("a\n"), "references/gone.md": []byte("gone\n"),
	}}
	newer = Skill{Version: "2", Files: map[string][]byte{
		"SKILL.md": []byte("two\n"), "references/a.md": []byte("a\n"), "references/b.md": []byte("b\n"),
	}}
)

// tree is all that is in a folder: kinds, modes, contents and where links lead.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var what []byte
		switch {
		case info.Mode().IsRegular():
			what, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			what = []byte(to)
		}
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = fmt.Sprintf("%s %q", info.Mode(), what)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// put writes files, given as path and content; a path that ends in / is a folder, and a
// content that begins with -> is where a link leads.
func put(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch to, link := strings.CutPrefix(files[i+1], "->"); {
		case strings.HasSuffix(files[i], "/"):
			err = os.MkdirAll(path, 0o700)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(files[i+1]), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func install(t *testing.T, s Skill, p Place) {
	t.Helper()
	if err := s.Install(p, false); err != nil {
		t.Fatal(err)
	}
}

func uninstall(t *testing.T, p Place) Removal {
	t.Helper()
	r, err := Uninstall(p, false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnInstallationLeavesNothingBehind(t *testing.T) {
	for name, before := range map[string][]string{
		"an empty home":         nil,
		"a folder of the agent": {".claude/", "", ".claude/settings.json", "{}"},
		"other skills":          {".claude/skills/other/SKILL.md", "other"},
		"an empty folder":       {".claude/skills/", ""},
		"a link inside":         {"dotfiles/claude/", "", ".claude", "->dotfiles/claude"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			put(t, home, before...)
			was := tree(t, home)
			p := Place{Base: home, Below: ".claude/skills"}
			install(t, older, p)
			install(t, newer, p)
			for file, data := range newer.Files {
				if got, err := os.ReadFile(filepath.Join(p.Path(), file)); err != nil || string(got) != string(data) {
					t.Errorf("%s: %q, %v", file, got, err)
				}
			}
			if _, err := os.Lstat(filepath.Join(p.Path(), "references", "gone.md")); err == nil {
				t.Error("a file of the older skill is still there")
			}
			if r := uninstall(t, p); len(r.Kept) > 0 || len(r.Removed) != len(newer.Files) {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff(was, tree(t, home)); diff != "" {
				t.Errorf("the home folder is another (-was +is):\n%s", diff)
			}
			if r := uninstall(t, p); r.Found {
				t.Errorf("once more: %+v", r)
			}
		})
	}
}

func TestWhatWouldBeDoneIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		installed Skill
		then      []string // written by somebody
		want      []Step
	}{
		"nothing is there": {Skill{}, nil, []Step{{"SKILL.md", Write}, {"references/a.md", Write}, {"references/b.md", Write}}},
		"the same":         {newer, nil, []Step{{"SKILL.md", Same}, {"references/a.md", Same}, {"references/b.md", Same}}},
		"an older one":     {older, nil, []Step{{"SKILL.md", Replace}, {"references/a.md", Same}, {"references/b.md", Write}, {"references/gone.md", Remove}}},
		"a copy by hand":   {Skill{}, []string{"SKILL.md", "two\n"}, []Step{{"SKILL.md", Same}, {"references/a.md", Write}, {"references/b.md", Write}}},
		"somebody's own":   {Skill{}, []string{"SKILL.md", "mine"}, []Step{{"SKILL.md", Changed}, {"references/a.md", Write}, {"references/b.md", Write}}},
		"a changed file":   {older, []string{"SKILL.md", "mine"}, []Step{{"SKILL.md", Changed}, {"references/a.md", Same}, {"references/b.md", Write}, {"references/gone.md", Remove}}},
		"a link":           {Skill{}, []string{"SKILL.md", "->elsewhere"}, []Step{{"SKILL.md", Changed}, {"references/a.md", Write}, {"references/b.md", Write}}},
		// It is not in the way, and is theirs now.
		"a changed file that is not wanted any more": {older, []string{"references/gone.md", "mine"}, []Step{{"SKILL.md", Replace}, {"references/a.md", Same}, {"references/b.md", Write}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Place{Base: t.TempDir(), Below: "."}
			if tc.installed.Version != "" {
				install(t, tc.installed, p)
			}
			put(t, p.Path(), tc.then...)
			was := tree(t, p.Base)
			v, err := newer.Look(p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, v.Steps); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(was, tree(t, p.Base)); diff != "" {
				t.Errorf("looking changed something:\n%s", diff)
			}
		})
	}
}

func TestAChangedFileIsTheirs(t *testing.T) {
	p := Place{Base: t.TempDir(), Below: "skills"}
	install(t, older, p)
	put(t, p.Path(), "SKILL.md", "mine", "notes.md", "also mine")
	install(t, newer, p)
	is := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(p.Path(), "SKILL.md")); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	is("mine")
	if err := newer.Install(p, true); err != nil {
		t.Fatal(err)
	}
	is("two\n")
	put(t, p.Path(), "references/b.md", "mine too")
	if r := uninstall(t, p); len(r.Kept) != 1 || r.Kept[0] != "references/b.md" {
		t.Errorf("%+v", r)
	}
	left := tree(t, p.Path())
	for _, gone := range []string{"SKILL.md", "references/a.md"} {
		if left[gone] != "" {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, kept := range []string{"notes.md", "references/b.md"} {
		if left[kept] == "" {
			t.Errorf("%s is gone", kept)
		}
	}
	for _, theirs := range []string{"notes.md", "references/b.md"} {
		if err := os.Remove(filepath.Join(p.Path(), theirs)); err != nil {
			t.Fatal(err)
		}
	}
	if r := uninstall(t, p); !r.Found || len(r.Kept) > 0 {
		t.Errorf("%+v", r)
	}
	if left := tree(t, p.Base); len(left) != 1 {
		t.Errorf("%v", left)
	}
}

// TestNothingIsWrittenThroughALink: neither out of the place nor into what a link in it
// leads to.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	for name, tc := range map[string]struct {
		links []string
		says  string
	}{
		"out of the base":    {[]string{".claude", "->../elsewhere"}, ".claude is a symbolic link that leads out of"},
		"from inside it":     {[]string{".claude/skills", "->../../elsewhere"}, ".claude/skills is a symbolic link"},
		"to nowhere":         {[]string{".claude", "->nowhere"}, "or nowhere"},
		"the skill's folder": {[]string{".claude/skills/orchestrate", "->../../../elsewhere"}, "orchestrate is a symbolic link and no folder"},
		"the references":     {[]string{".claude/skills/orchestrate/references", "->../../../../elsewhere"}, "references is a symbolic link and no folder"},
		"a file in the way":  {[]string{".claude/skills/orchestrate", "text"}, "orchestrate is a file and no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			put(t, top, "home/", "", "elsewhere/", "")
			put(t, filepath.Join(top, "home"), tc.links...)
			was := tree(t, top)
			p := Place{Base: filepath.Join(top, "home"), Below: ".claude/skills"}
			for _, err := range []error{
				newer.Install(p, true),
				func() error { _, err := newer.Look(p); return err }(),
				func() error { _, err := Uninstall(p, false); return err }(),
			} {
				if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), p.Path()) {
					t.Errorf("%v, want %q", err, tc.says)
				}
			}
			if diff := cmp.Diff(was, tree(t, top)); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
}

func TestForceReplacesALinkAndNotWhatItLeadsTo(t *testing.T) {
	p := Place{Base: t.TempDir(), Below: "."}
	put(t, p.Base, "theirs.md", "theirs", "orchestrate/SKILL.md", "->../theirs.md")
	if err := newer.Install(p, true); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(p.Base, "theirs.md")); err != nil || string(got) != "theirs" {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Lstat(filepath.Join(p.Path(), "SKILL.md")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// TestACutOffInstallationIsOurs cuts an update off after each of its steps; what is there
// then is completed by the next, and removed without a trace.
func TestACutOffInstallationIsOurs(t *testing.T) {
	for cut := range 5 {
		for _, next := range []string{"install", "uninstall"} {
			t.Run(fmt.Sprintf("%d %s", cut, next), func(t *testing.T) {
				home := t.TempDir()
				was := tree(t, home)
				p := Place{Base: home, Below: "skills"}
				install(t, older, p)
				cutOff(t, p, cut)
				if next == "install" {
					v, err := newer.Look(p)
					if err != nil || len(v.With(Changed)) > 0 {
						t.Fatalf("%+v, %v", v, err)
					}
					install(t, newer, p)
					if v, err := newer.Look(p); err != nil || !v.Current() {
						t.Fatalf("%+v, %v", v, err)
					}
				}
				if r := uninstall(t, p); len(r.Kept) > 0 {
					t.Errorf("%+v", r)
				}
				if diff := cmp.Diff(was, tree(t, home)); diff != "" {
					t.Errorf("something is left:\n%s", diff)
				}
			})
		}
	}
}

// cutOff does as much of an update as an installation that is killed in its cut-th step,
// with the file under way still under the name of its draft.
func cutOff(t *testing.T, p Place, cut int) {
	t.Helper()
	if err := within(p, func(root *os.Root, folder string) error {
		m, err := known(root, folder)
		if err != nil {
			return err
		}
		steps, err := newer.steps(root, folder, m)
		if err != nil {
			return err
		}
		if err := m.with(newer, 0).write(root, folder); err != nil {
			return err
		}
		for i, step := range steps {
			if i == cut && step.Do == Remove {
				return nil
			}
			if i == cut {
				return root.WriteFile(draft(folder+"/"+step.File), []byte("ha"), 0o644)
			}
			if err := newer.take(root, folder, step, false); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAManifestThatIsNotOursIsNotBelieved(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":         "{",
		"another version": `{"schemaVersion":2,"version":"9","folders":0,"files":{}}`,
		"unknown keys":    `{"schemaVersion":1,"version":"1","folders":0,"files":{},"more":1}`,
		"files elsewhere": `{"schemaVersion":1,"version":"1","folders":0,"files":{"../theirs.md":["x"]}}`,
		"a link":          "->../theirs.md",
	} {
		t.Run(name, func(t *testing.T) {
			p := Place{Base: t.TempDir(), Below: "."}
			put(t, p.Base, "theirs.md", "theirs", "orchestrate/"+ManifestFile, text)
			was := tree(t, p.Base)
			if _, err := Uninstall(p, false); err == nil || !strings.Contains(err.Error(), "cannot be used") {
				t.Error(err)
			}
			if err := newer.Install(p, true); err == nil {
				t.Error("installed")
			}
			if diff := cmp.Diff(was, tree(t, p.Base)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPlaceThatIsNotThereIsSaid(t *testing.T) {
	p := Place{Base: filepath.Join(t.TempDir(), "none"), Below: "."}
	if err := newer.Install(p, false); err == nil || !strings.Contains(err.Error(), "make that folder") {
		t.Error(err)
	}
}

func TestDryRemovalOnlySays(t *testing.T) {
	p := Place{Base: t.TempDir(), Below: "."}
	install(t, newer, p)
	was := tree(t, p.Base)
	r, err := Uninstall(p, true)
	if err != nil || len(r.Removed) != len(newer.Files) {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff(was, tree(t, p.Base)); diff != "" {
		t.Error(diff)
	}
}
