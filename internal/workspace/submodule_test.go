package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/shellword"
)

// newSuper makes a checkout with the submodule "my lib", and in that the submodule
// "deep", both filled.
func newSuper(t *testing.T) (*Repo, string) {
	t.Helper()
	_, dir := newRepo(t)
	gitDo(t, dir, "config", "protocol.file.allow", "always")
	made := map[string]string{}
	for _, name := range []string{"deep", "lib"} {
		made[name] = filepath.Join(realTemp(t), name)
		gitDo(t, t.TempDir(), "init", "-q", made[name])
		write(t, made[name], name+".txt", name+"\n")
		write(t, made[name], ".gitignore", "*.o\n")
	}
	always := []string{"-c", "protocol.file.allow=always"}
	gitDo(t, made["deep"], "add", "-A")
	gitDo(t, made["deep"], "commit", "-q", "-m", "deep")
	gitDo(t, made["lib"], append(always, "submodule", "--quiet", "add", made["deep"], "deep")...)
	gitDo(t, made["lib"], "add", "-A")
	gitDo(t, made["lib"], "commit", "-q", "-m", "lib")
	gitDo(t, dir, append(always, "submodule", "--quiet", "add", made["lib"], "my lib")...)
	gitDo(t, dir, append(always, "submodule", "--quiet", "update", "--init", "--recursive")...)
	gitDo(t, dir, "commit", "-q", "-m", "with submodules")
	return open(t, dir), dir
}

func pathsOf(files []Change) (all []string) {
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

func changedIn(t *testing.T, tree *Tree) []string {
	t.Helper()
	files, err := tree.Changed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return pathsOf(files)
}

func TestSubmodulesAreFilledAndSeenToBeUnchanged(t *testing.T) {
	r, dir := newSuper(t)
	tree := addTree(t, r, "orchestrate/run/job")
	for _, name := range []string{"my lib/lib.txt", "my lib/deep/deep.txt"} {
		if _, err := os.Stat(filepath.Join(tree.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := gitDo(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("git sees changes:\n%s", got)
	}
	if got := strings.TrimSpace(gitDo(t, filepath.Join(tree.Dir, "my lib", "deep"), "log", "-1", "--format=%s")); got != "deep" {
		t.Errorf("git inside: %q", got)
	}
	write(t, tree.Dir, "my lib/made.o", "ignored there")
	write(t, tree.Dir, "a.txt", "new\n")
	p, patch := capture(t, tree)
	if diff := cmp.Diff([]string{"a.txt"}, pathsOf(p.Files)); diff != "" || len(p.Unseen) > 0 {
		t.Errorf("unseen %v, changed:\n%s", p.Unseen, diff)
	}
	appliesTo(t, dir, p.Base, patch)
}

func TestWhatIsChangedInASubmoduleIsSeen(t *testing.T) {
	for name, change := range map[string]func(tree *Tree){
		"my lib":      func(tree *Tree) { write(t, tree.Dir, "my lib/lib.txt", "other\n") },
		"my lib/deep": func(tree *Tree) { write(t, tree.Dir, "my lib/deep/new.txt", "other\n") },
	} {
		r, _ := newSuper(t)
		tree := addTree(t, r, "orchestrate/run/job")
		change(tree)
		if got := changedIn(t, tree); len(got) != 1 || !strings.HasPrefix(got[0], name+"/") {
			t.Errorf("%s: changed %v", name, got)
		}
		p, _ := capture(t, tree)
		if diff := cmp.Diff([]string{name}, p.Unseen); diff != "" || len(p.Files) != 0 {
			t.Errorf("%s: files %v, unseen:\n%s", name, p.Files, diff)
		}
	}
}

// A commit made in a submodule of a worktree is nobody's but the worktree's: the person's
// own is not written, and a patch that only names it is told from one that holds it.
func TestACommitInASubmoduleStaysThereAndIsSeen(t *testing.T) {
	r, dir := newSuper(t)
	tree := addTree(t, r, "orchestrate/run/job")
	lib := filepath.Join(tree.Dir, "my lib")
	gitDo(t, lib, "commit", "-q", "--allow-empty", "-m", "by the agent")
	sha := strings.TrimSpace(gitDo(t, lib, "rev-parse", "HEAD"))
	if out, err := gitTry(t, filepath.Join(dir, "my lib"), "cat-file", "-e", sha); err == nil {
		t.Errorf("the person's submodule holds it\n%s", out)
	}
	if p, _ := capture(t, tree); len(p.Unseen) != 1 {
		t.Errorf("unseen %v", p.Unseen)
	}
}

func TestASubmodulesLinkIsPutBackAndNothingOutside(t *testing.T) {
	r, _ := newSuper(t)
	tree := addTree(t, r, "orchestrate/run/job")
	link := filepath.Join(tree.Dir, "my lib", ".git")
	if err := os.WriteFile(link, []byte("gitdir: /somewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if changed, err := tree.Relink(); !changed || err != nil {
		t.Errorf("put back: %v, %v", changed, err)
	}
	if got := changedIn(t, tree); len(got) != 0 {
		t.Errorf("changed %v", got)
	}
	outside := realTemp(t)
	write(t, outside, ".git", "precious")
	if err := os.RemoveAll(filepath.Join(tree.Dir, "my lib")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(tree.Dir, "my lib")); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Relink(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(outside, ".git")); err != nil || string(data) != "precious" {
		t.Errorf("outside: %q, %v", data, err)
	}
	if got := changedIn(t, tree); len(got) != 1 || got[0] != "my lib" {
		t.Errorf("changed %v", got)
	}
}

// What stands in a submodule's git directory of the person runs nothing when its files
// are taken from there.
func TestNothingOfTheSubmodulesOwnIsObeyed(t *testing.T) {
	r, dir := newSuper(t)
	mark := filepath.Join(realTemp(t), "ran")
	prog := filepath.Join(realTemp(t), "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, ".git", "modules", "my lib")
	for _, kv := range [][]string{
		{"filter.x.smudge", prog},
		{"filter.x.required", "true"},
		{"core.fsmonitor", prog},
		{"core.hooksPath", filepath.Dir(prog)},
		{"core.autocrlf", "true"},
	} {
		gitDo(t, home, "--git-dir=.", "config", kv[0], kv[1])
	}
	write(t, home, "info/attributes", "* filter=x\n")
	tree := addTree(t, r, "orchestrate/run/job")
	if got := changedIn(t, tree); len(got) != 0 {
		t.Errorf("changed %v", got)
	}
	if data, err := os.ReadFile(filepath.Join(tree.Dir, "my lib", "lib.txt")); err != nil || string(data) != "lib\n" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program ran")
	}
}

func TestSubmodulesAreListedWithWhatIsThereOfThem(t *testing.T) {
	r, dir := newSuper(t)
	ctx := context.Background()
	sha, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	tell := func(r *Repo) (all []string) {
		t.Helper()
		subs, err := r.Submodules(ctx, sha)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range subs {
			text := m.Path
			if m.Used {
				text += " used"
			}
			if m.Lacks != "" {
				text += " lacks"
			}
			all = append(all, text)
		}
		return all
	}
	if diff := cmp.Diff([]string{"my lib used", "my lib/deep used"}, tell(r)); diff != "" {
		t.Error(diff)
	}
	clone := filepath.Join(realTemp(t), "clone")
	gitDo(t, t.TempDir(), "clone", "-q", dir, clone)
	if diff := cmp.Diff([]string{"my lib lacks"}, tell(open(t, clone))); diff != "" {
		t.Error(diff)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git", "modules", "my lib", "modules")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"my lib used", "my lib/deep used lacks"}, tell(r)); diff != "" {
		t.Error(diff)
	}
}

// A commit may name what is no path, or no submodule; that counts for nothing.
func TestAHostileGitmodulesLeadsNowhere(t *testing.T) {
	r, dir := newSuper(t)
	write(t, dir, ".gitmodules", "[submodule \"../../x\"]\n\tpath = my lib\n\turl = x\n[submodule \"y\"]\n\tpath = ../y\n\turl = y\n[submodule \"z\"]\n\tpath = a.txt\n\turl = z\n")
	gitDo(t, dir, "commit", "-qam", "hostile")
	ctx := context.Background()
	sha, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	subs, err := r.Submodules(ctx, sha)
	if err != nil || len(subs) != 0 {
		t.Errorf("%v, %v", subs, err)
	}
	unnamed, err := r.Unnamed(ctx, sha)
	if diff := cmp.Diff([]string{"my lib"}, unnamed); diff != "" || err != nil {
		t.Error(diff, err)
	}
	tree := addTree(t, r, "orchestrate/run/job")
	if got := changedIn(t, tree); len(got) != 0 {
		t.Errorf("changed %v", got)
	}
}

// git refuses to remove a worktree with submodules; what is advised instead works.
func TestHowATreeWithSubmodulesIsRemovedIsSaidSoThatItWorks(t *testing.T) {
	r, dir := newSuper(t)
	tree := addTree(t, r, "orchestrate/run/job")
	how := r.HowToRemove(t.Context(), registration(tree.git.gitDir))
	if strings.Contains(how, "git worktree remove") || !strings.Contains(how, "rm -r ") || !strings.HasSuffix(how, "git worktree prune") {
		t.Fatalf("got %q", how)
	}
	if err := os.RemoveAll(tree.Dir); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "worktree", "prune")
	if got := gitDo(t, dir, "worktree", "list"); strings.Count(got, "\n") != 1 {
		t.Errorf("git still knows it:\n%s", got)
	}
	plain, dir := newRepo(t)
	tree = addTree(t, plain, "orchestrate/run/job")
	reg := registration(tree.git.gitDir)
	if how := plain.HowToRemove(t.Context(), reg); how != "git worktree remove "+shellword.Quote(tree.Dir) {
		t.Errorf("got %q", how)
	}
	gitDo(t, dir, "worktree", "remove", tree.Dir)
}
