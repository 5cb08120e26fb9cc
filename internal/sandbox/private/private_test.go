//go:build linux

package private_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/sandbox/private"
)

func value(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

func makeFor(t *testing.T, p person, tree string, open ...string) private.Dir {
	t.Helper()
	d, err := private.Make(private.Ask{Parent: t.TempDir(), Getenv: p.getenv, Trees: []string{tree}, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryPlaceIsInThePrivateFolderAndOnlyOurs(t *testing.T) {
	t.Parallel()
	d := makeFor(t, newPerson(t), t.TempDir())
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "GOTMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "GOCACHE", "npm_config_cache", "GRADLE_USER_HOME", "YARN_GLOBAL_FOLDER"} {
		dir := value(d.Env, name)
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 || !strings.HasPrefix(dir, d.Path+"/") {
			t.Errorf("%s=%s: %v", name, dir, err)
		}
	}
	for _, name := range []string{"GOCACHEPROG", "CARGO_HOME", "GRADLE_RO_DEP_CACHE", "npm_config_store_dir", "NPM_CONFIG_CACHE"} {
		if v := value(d.Env, name); v != "" {
			t.Errorf("%s=%s, and there is no reason for it", name, v)
		}
	}
	if info, err := os.Stat(d.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

func TestTwoFoldersAreTwo(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	first := makeFor(t, p, "/x")
	if second := makeFor(t, p, "/x"); first.Path == second.Path {
		t.Error("one folder for two")
	}
}

func TestThePathHasNoLinks(t *testing.T) {
	t.Parallel()
	to := real(t, t.TempDir())
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(to, link); err != nil {
		t.Fatal(err)
	}
	d, err := private.Make(private.Ask{Parent: link, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(d.Path) != to {
		t.Errorf("%s is not in %s", d.Path, to)
	}
}

func TestWithoutAPlaceThereIsNoFolder(t *testing.T) {
	t.Parallel()
	if _, err := private.Make(private.Ask{Parent: "/no/such/place", Getenv: func(string) string { return "" }}); err == nil || !strings.Contains(err.Error(), "/no/such/place") {
		t.Error(err)
	}
}

// What the operator opened is used itself; the rest stays private.
func TestACacheThatTheOperatorOpenedIsUsedItself(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	write(t, filepath.Join(p.home, ".cache/go-build/README"), "")
	tree := t.TempDir()
	write(t, filepath.Join(tree, "Cargo.toml"), "")
	write(t, filepath.Join(tree, "pnpm-lock.yaml"), "")
	d := makeFor(t, p, tree, filepath.Join(p.home, ".npm"), filepath.Join(p.home, ".cache/go-build"), filepath.Join(p.home, ".cargo"), filepath.Join(p.home, ".local"))
	for name, want := range map[string]string{
		"npm_config_cache": p.home + "/.npm", "GOCACHE": p.home + "/.cache/go-build", "CARGO_HOME": "", "GOCACHEPROG": "",
		"npm_config_store_dir": p.home + "/.local/share/pnpm/store",
		"XDG_CACHE_HOME":       d.Path + "/cache", "PIP_CACHE_DIR": d.Path + "/cache/pip",
	} {
		if got := value(d.Env, name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
}

func TestCargoHasWhatThePersonHasAndItsOwnPlaceForMore(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, name := range []string{
		"registry/index/r/.cache/se/rd/serde", "registry/index/r/config.json", "registry/cache/r/serde-1.0.0.crate", "registry/src/r/serde-1.0.0/lib.rs",
		"git/db/x-1/HEAD", "git/checkouts/x-1/abc/lib.rs", "config.toml", "credentials.toml",
	} {
		write(t, filepath.Join(p.home, ".cargo", name), name)
	}
	tree := t.TempDir()
	write(t, filepath.Join(tree, "Cargo.toml"), "")
	d := makeFor(t, p, tree)
	home := value(d.Env, "CARGO_HOME")
	want := []string{
		"config.toml", "git/checkouts/x-1/abc", "git/db/x-1", "registry/cache/r/serde-1.0.0.crate",
		"registry/index/r/.cache/se/rd/serde", "registry/index/r/config.json", "registry/src/r/serde-1.0.0",
	}
	got := links(t, home)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("linked %q, want %q", got, want)
	}
	write(t, filepath.Join(home, "registry/index/r/.cache/se/rd/serde_json"), "new")
}

func TestYarnHasWhatThePersonHas(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	write(t, filepath.Join(p.home, ".yarn/berry/cache/a-npm-1.zip"), "x")
	write(t, filepath.Join(p.home, ".cache/yarn/v6/npm-a-1-integrity/package.json"), "x")
	tree := t.TempDir()
	if got := links(t, makeFor(t, p, tree).Path); len(got) != 0 {
		t.Errorf("linked without a project of Yarn's: %v", got)
	}
	write(t, filepath.Join(tree, "yarn.lock"), "")
	d := makeFor(t, p, tree)
	if got := links(t, d.Path); !slices.Equal(got, []string{"cache/yarn/v6/npm-a-1-integrity", "yarn/cache/a-npm-1.zip"}) {
		t.Errorf("linked %v", got)
	}
	write(t, filepath.Join(value(d.Env, "YARN_GLOBAL_FOLDER"), "cache/b.zip"), "new")
}

func TestGradleReadsWhatThePersonHas(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	write(t, filepath.Join(p.home, ".gradle/caches/modules-2/x"), "")
	if got := value(makeFor(t, p, "/x").Env, "GRADLE_RO_DEP_CACHE"); got != p.home+"/.gradle/caches" {
		t.Error(got)
	}
}

func TestRemoveTakesReadOnlyFoldersAndFollowsNoLink(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	outside := filepath.Join(p.home, "keep", "file")
	write(t, outside, "x")
	d := makeFor(t, p, "/x")
	write(t, filepath.Join(d.Path, "tmp/mod/a@v1/deep/file"), "x")
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(d.Path, "tmp/mod/a@v1/out")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tmp/mod/a@v1/deep", "tmp/mod/a@v1", "tmp/mod"} {
		if err := os.Chmod(filepath.Join(d.Path, dir), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := private.Remove(d.Path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(d.Path); err == nil {
		t.Error("it is still there")
	}
	if info, err := os.Stat(filepath.Dir(outside)); err != nil || info.Mode().Perm() != 0o755 || read(t, outside) != "x" {
		t.Error("what a link led to changed", err)
	}
	if err := private.Remove(d.Path); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestOnlyPrivateFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mine")
	write(t, filepath.Join(dir, "x"), "")
	for _, path := range []string{dir, "", "/", "orchestrate-x"} {
		if err := private.Remove(path); err == nil {
			t.Errorf("%q was removed", path)
		}
	}
}
