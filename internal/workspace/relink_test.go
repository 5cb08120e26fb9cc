package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRelinkPutsTheLinkBack(t *testing.T) {
	_, dir := newRepo(t)
	r := open(t, dir)
	for name, plant := range map[string]func(t *testing.T, link string){
		"nothing": func(t *testing.T, link string) {},
		"another link": func(t *testing.T, link string) {
			if err := os.WriteFile(link, []byte("gitdir: /elsewhere\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func(t *testing.T, link string) {
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
		},
		"a repository": func(t *testing.T, link string) {
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			gitDo(t, filepath.Dir(link), "init", "-q")
		},
		"a symbolic link to the same": func(t *testing.T, link string) {
			aside := filepath.Join(filepath.Dir(link), "aside")
			if err := errors.Join(os.Rename(link, aside), os.Symlink("aside", link)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := addTree(t, r, "orchestrate/run/"+strings.ReplaceAll(name, " ", "-"))
			link := filepath.Join(tree.Dir, ".git")
			before, err := os.ReadFile(link)
			if err != nil {
				t.Fatal(err)
			}
			plant(t, link)
			changed, err := tree.Relink()
			if err != nil || changed != (name != "nothing") {
				t.Errorf("changed %t, %v", changed, err)
			}
			info, err := os.Lstat(link)
			if err != nil || !info.Mode().IsRegular() {
				t.Fatalf("%v, %v", info, err)
			}
			if after, err := os.ReadFile(link); err != nil || string(after) != string(before) {
				t.Errorf("%q, %v, was %q", after, err, before)
			}
			if out := gitDo(t, tree.Dir, "rev-parse", "--absolute-git-dir"); strings.TrimSpace(out) != tree.git.gitDir {
				t.Errorf("git goes to %s", out)
			}
		})
	}
}

func TestRelinkLeavesTheSharedCheckoutAlone(t *testing.T) {
	_, dir := newRepo(t)
	r := open(t, dir)
	ctx := context.Background()
	before, err := r.SnapshotTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := SharedTree(ctx, r, before)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := tree.Relink(); changed || err != nil {
		t.Errorf("%t, %v", changed, err)
	}
}

// What an agent plants where a submodule belongs, in its tree or in the checkout, runs
// nothing of ours.
func TestNothingPlantedInASubmoduleRuns(t *testing.T) {
	_, dir := newRepo(t)
	lib := realTemp(t)
	gitDo(t, lib, "init", "-q")
	write(t, lib, "l.txt", "x")
	gitDo(t, lib, "add", "-A")
	gitDo(t, lib, "commit", "-q", "-m", "lib")
	gitDo(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	gitDo(t, dir, "commit", "-q", "-m", "with a submodule")
	r := open(t, dir)
	tree := addTree(t, r, "orchestrate/run/job")
	trace := filepath.Join(realTemp(t), "trace")
	for _, top := range []string{tree.Dir, dir} {
		planted := filepath.Join(top, "lib")
		if err := os.RemoveAll(planted); err != nil {
			t.Fatal(err)
		}
		gitDo(t, top, "-c", "protocol.file.allow=always", "clone", "-q", lib, planted)
		write(t, planted, ".gitattributes", "*.txt filter=evil diff=evil\n")
		evil := filepath.Join(filepath.Dir(trace), "evil.sh")
		if err := os.WriteFile(evil, fmt.Appendf(nil, "#!/bin/sh\necho ran >>'%s'\ncat\n", trace), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, kv := range []string{"core.fsmonitor", "filter.evil.clean", "diff.evil.textconv", "diff.external", "core.pager"} {
			gitDo(t, planted, "config", kv, evil)
		}
		write(t, planted, "l.txt", "y")
	}
	ctx := context.Background()
	for name, do := range map[string]func() error{
		"capture":     func() error { _, err := tree.Capture(ctx, CaptureRequest{}); return err },
		"changed":     func() error { _, err := tree.Changed(ctx); return err },
		"dirty":       func() error { _, err := r.Dirty(ctx); return err },
		"fingerprint": func() error { _, err := r.Fingerprint(ctx); return err },
		"snapshot":    func() error { _, err := r.SnapshotTree(ctx); return err },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, err := os.ReadFile(trace); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s ran a program of the planted repository: %s", name, text)
			_ = os.Remove(trace)
		}
	}
	p, err := tree.Capture(ctx, CaptureRequest{})
	if err != nil || len(p.Files) != 0 || len(p.Unseen) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	gitDo(t, filepath.Join(tree.Dir, "lib"), "-c", "core.fsmonitor=", "-c", "filter.evil.clean=", "commit", "-q", "-a", "-m", "moved")
	if files, err := tree.Changed(ctx); err != nil || changeMap(files)["lib"] != "M" {
		t.Errorf("a submodule at another commit: %+v, %v", files, err)
	}
	_ = os.Remove(trace)
	if out, err := gitTry(t, filepath.Join(dir, "lib"), "status"); err != nil {
		t.Log(out)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Errorf("the test's trap never springs: %v", err)
	}
}
