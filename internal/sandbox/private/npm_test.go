//go:build linux

package private_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrate/internal/sandbox"
	"orchestrate/internal/sandbox/private"
)

// npmPackage is a package as npm fetches it, and its integrity.
func npmPackage(t *testing.T) (file, integrity string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"package.json": `{"name":"tiny-dep","version":"1.0.0","main":"index.js"}`,
		"index.js":     "module.exports = 42\n",
	} {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "tiny-dep-1.0.0.tgz")
	write(t, file, b.String())
	sum := sha512.Sum512(b.Bytes())
	return file, "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// npmLock is a lock file of any version that names one package.
func npmLock(version int, integrity string) string {
	dep := fmt.Sprintf(`{"version":"1.0.0","resolved":"https://registry.npmjs.org/tiny-dep/-/tiny-dep-1.0.0.tgz","integrity":%q}`, integrity)
	packages := `"packages":{"":{"name":"app","version":"1.0.0","dependencies":{"tiny-dep":"1.0.0"}},"node_modules/tiny-dep":` + dep + `}`
	dependencies := `"dependencies":{"tiny-dep":` + dep + `}`
	list := map[int]string{1: dependencies, 2: packages + "," + dependencies, 3: packages}[version]
	return fmt.Sprintf(`{"name":"app","version":"1.0.0","lockfileVersion":%d,"requires":true,%s}`, version, list)
}

const npmProject = `{"name":"app","version":"1.0.0","dependencies":{"tiny-dep":"1.0.0"},
	"scripts":{"test":"node -e 'process.exit(require(\"tiny-dep\") === 42 ? 0 : 1)'"}}`

func TestARealNpmCiOfflineInTheBox(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	file, integrity := npmPackage(t)
	p.does(t, "/", "npm cache add "+file)
	before := below(t, filepath.Join(p.home, ".npm", "_cacache"))

	for _, lock := range []struct {
		name    string
		version int
	}{{"package-lock.json", 1}, {"package-lock.json", 2}, {"package-lock.json", 3}, {"npm-shrinkwrap.json", 3}} {
		tree := real(t, t.TempDir())
		write(t, filepath.Join(tree, "package.json"), npmProject)
		write(t, filepath.Join(tree, lock.name), npmLock(lock.version, integrity))
		_, job := p.job(t, tree)
		job("npm ci --offline && npm test")
		if sandbox.ABI() >= sandbox.MinABI {
			job(`if touch "$HOME/.npm/x"; then exit 1; fi`)
		}
	}
	if below(t, filepath.Join(p.home, ".npm", "_cacache")) != before {
		t.Error("the person's cache changed")
	}
}

// The private cache is a real one: what is added to it is found again.
func TestNpmAddsToItsPrivateCache(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	file, integrity := npmPackage(t)
	tree := real(t, t.TempDir())
	write(t, filepath.Join(tree, "package.json"), npmProject)
	write(t, filepath.Join(tree, "package-lock.json"), npmLock(3, integrity))
	_, job := p.job(t, tree)
	job("npm cache add " + file + " && npm ci --offline && npm test")
	if _, err := os.Stat(filepath.Join(p.home, ".npm")); err == nil {
		t.Error("npm wrote to HOME")
	}
}

// links are the symbolic links below a folder, relative to it.
func links(t *testing.T, dir string) (all []string) {
	t.Helper()
	for line := range strings.Lines(below(t, dir)) {
		if path, mode, _ := strings.Cut(line, " "); strings.HasPrefix(mode, "L") {
			all = append(all, strings.TrimPrefix(path, dir+"/"))
		}
	}
	return all
}

// withContents is a person whose npm cache has some contents, by their first bytes.
func withContents(t *testing.T, cache string, numbers ...byte) person {
	t.Helper()
	p := newPerson(t)
	for _, n := range numbers {
		write(t, filepath.Join(p.home, cache, "_cacache/content-v2/sha512", content(n)), "x")
	}
	return p
}

func digest(n byte) []byte { return bytes.Repeat([]byte{n}, 64) }

func content(n byte) string {
	h := fmt.Sprintf("%x", digest(n))
	return filepath.Join(h[:2], h[2:4], h[4:])
}

func integrityOf(n byte) string {
	return "sha512-" + base64.StdEncoding.EncodeToString(digest(n))
}

func TestOnlyWhatTheLockNamesAndThePersonHasIsLinked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lock string
		want []byte
	}{
		"named and there":  {npmLock(3, integrityOf(1)), []byte{1}},
		"named, not there": {npmLock(3, integrityOf(9)), nil},
		"two hashes":       {npmLock(3, "sha1-AAAA "+integrityOf(1)+"?opt "+integrityOf(2)), []byte{1, 2}},
		"nested, version 1": {
			`{"dependencies":{"a":{"integrity":"` + integrityOf(1) + `","dependencies":{"b":{"integrity":"` + integrityOf(2) + `"}}}}}`,
			[]byte{1, 2},
		},
		"no JSON":              {`{"packages":`, nil},
		"of other types":       {`{"packages":[1,2]}`, nil},
		"a hash too short":     {npmLock(3, "sha512-AAAA"), nil},
		"an unknown algorithm": {npmLock(3, "../../x-AAAA"), nil},
		"empty":                {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := withContents(t, ".npm", 1, 2, 3)
			tree := t.TempDir()
			write(t, filepath.Join(tree, "package-lock.json"), c.lock)
			d, _ := p.job(t, tree)
			var want []string
			for _, n := range c.want {
				want = append(want, filepath.Join("_cacache/content-v2/sha512", content(n)))
			}
			if got := links(t, filepath.Join(d.Path, "npm")); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("linked %v, want %v", got, want)
			}
		})
	}
}

func TestAnotherNpmCacheOfThePersonIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ env, npmrc string }{
		"environment":       {env: "npm_config_cache=$HOME/my cache"},
		"environment, caps": {env: "NPM_CONFIG_CACHE=$HOME/my cache"},
		".npmrc":            {npmrc: "registry=https://example.com/\ncache = ${HOME}/my cache\n"},
		".npmrc, ~":         {npmrc: "cache=\"~/my cache\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := withContents(t, "my cache", 1)
			if c.env != "" {
				p.env = append(p.env, strings.ReplaceAll(c.env, "$HOME", p.home))
			}
			write(t, filepath.Join(p.home, ".npmrc"), c.npmrc)
			tree := t.TempDir()
			write(t, filepath.Join(tree, "package-lock.json"), npmLock(3, integrityOf(1)))
			d, _ := p.job(t, tree)
			if got := links(t, filepath.Join(d.Path, "npm")); len(got) != 1 {
				t.Errorf("linked %v", got)
			}
		})
	}
}

// A job before may have put anything in the place of a lock file.
func TestALockFileThatIsNoneIsNothing(t *testing.T) {
	t.Parallel()
	p := withContents(t, ".npm", 1)
	for name, plant := range map[string]func(path string) error{
		"a pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"a device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a loop":    func(path string) error { return os.Symlink(path, path) },
		"too large": func(path string) error { return enlarge(path, npmLock(3, integrityOf(1)), 17<<20) },
		"deeply nested": func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte(`{"dependencies":`), 1<<17), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			if err := plant(filepath.Join(tree, "package-lock.json")); err != nil {
				t.Fatal(err)
			}
			d, _ := p.job(t, tree)
			if got := links(t, filepath.Join(d.Path, "npm")); len(got) != 0 {
				t.Errorf("linked %v", got)
			}
		})
	}
}

// enlarge writes a text and makes the file larger by a hole behind it.
func enlarge(path, text string, size int64) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

func BenchmarkMakeFor2000Packages(b *testing.B) {
	home, tree := b.TempDir(), b.TempDir()
	packages := map[string]map[string]string{}
	for i := range 2000 {
		sum := sha512.Sum512([]byte{byte(i), byte(i >> 8)})
		h := fmt.Sprintf("%x", sum)
		dir := filepath.Join(home, ".npm/_cacache/content-v2/sha512", h[:2], h[2:4])
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, h[4:]), nil, 0o600); err != nil {
			b.Fatal(err)
		}
		packages[fmt.Sprintf("node_modules/p%d", i)] = map[string]string{"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	}
	lock, err := json.Marshal(map[string]any{"packages": packages})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "package-lock.json"), lock, 0o600); err != nil {
		b.Fatal(err)
	}
	ask := private.Ask{Parent: b.TempDir(), Trees: []string{tree}, Getenv: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}
	for b.Loop() {
		d, err := private.Make(ask)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := private.Remove(d.Path); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
