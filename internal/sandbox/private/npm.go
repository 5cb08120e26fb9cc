package private

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of what is taken over. A lock file is a job's own text: it may be anything.
const (
	mostLock  = 16 << 20
	mostLinks = 50_000
)

// npmLocks are the lock files of npm, in the order in which npm prefers them.
var npmLocks = []string{"npm-shrinkwrap.json", "package-lock.json"}

// seedNPM links into the private npm cache the contents that the trees' lock files name
// and the person's cache has. npm finds them by their hash, so nothing else of a cache is
// needed for "npm ci", and the folders stay the job's own, for what it adds.
func (d Dir) seedNPM(ask Ask) {
	person := filepath.Join(npmCache(ask.Getenv), "_cacache", "content-v2")
	if !filepath.IsAbs(person) {
		return
	}
	own := d.in(filepath.Join("npm", "_cacache", "content-v2"))
	links := 0
	for _, content := range lockedContents(ask.Trees) {
		from, to := filepath.Join(person, content), filepath.Join(own, content)
		if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if os.MkdirAll(filepath.Dir(to), 0o700) != nil {
			return // no room: npm says it better
		}
		if err := os.Symlink(from, to); err == nil {
			links++
		} else if !errors.Is(err, fs.ErrExist) {
			return
		}
		if links == mostLinks {
			return
		}
	}
}

// lockedContents are the contents that the lock files in some folders name, by their
// paths in a cache.
func lockedContents(trees []string) (all []string) {
	for _, tree := range trees {
		for _, name := range npmLocks {
			if b, err := regular(filepath.Join(tree, name), mostLock); err == nil {
				all = append(all, contents(b)...)
			}
		}
	}
	return all
}

// lockEntry is a package in a lock file: versions 2 and 3 list them all in "packages",
// version 1 nests them in "dependencies".
type lockEntry struct {
	Integrity    string               `json:"integrity"`
	Dependencies map[string]lockEntry `json:"dependencies"`
}

// contents are the contents that a lock file names; none if it is malformed.
func contents(lock []byte) (all []string) {
	var file struct {
		Packages     map[string]struct{ Integrity string } `json:"packages"`
		Dependencies map[string]lockEntry                  `json:"dependencies"`
	}
	if json.Unmarshal(lock, &file) != nil {
		return nil
	}
	for _, p := range file.Packages {
		all = append(all, contentPaths(p.Integrity)...)
	}
	if len(file.Packages) == 0 {
		all = append(all, nested(file.Dependencies)...)
	}
	return all
}

func nested(deps map[string]lockEntry) (all []string) {
	for _, d := range deps {
		all = append(append(all, contentPaths(d.Integrity)...), nested(d.Dependencies)...)
	}
	return all
}

// hashes are the lengths of what may stand in an integrity.
var hashes = map[string]int{"sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}

// contentPaths turns an integrity ("sha512-BASE64 …") into paths of npm's cache:
// sha512/ab/cd/rest, the digest in hexadecimal.
func contentPaths(integrity string) (all []string) {
	for _, one := range strings.Fields(integrity) {
		algorithm, rest, _ := strings.Cut(one, "-")
		rest, _, _ = strings.Cut(rest, "?")
		digest, err := base64.StdEncoding.DecodeString(rest)
		if err != nil || len(digest) == 0 || len(digest) != hashes[algorithm] {
			continue
		}
		h := hex.EncodeToString(digest)
		all = append(all, filepath.Join(algorithm, h[:2], h[2:4], h[4:]))
	}
	return all
}

// npmCache is the person's npm cache; "" = none.
func npmCache(getenv func(string) string) string {
	if dir := set(getenv("npm_config_cache"), getenv("NPM_CONFIG_CACHE")); dir != "" {
		return dir
	}
	home := getenv("HOME")
	b, err := regular(under(home, ".npmrc"), 1<<16)
	if err != nil {
		return under(home, ".npm")
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, "=")
		if value = strings.Trim(strings.TrimSpace(value), `"'`); strings.TrimSpace(name) == "cache" {
			return strings.Replace(strings.Replace(value, "${HOME}", home, 1), "~/", home+"/", 1)
		}
	}
	return under(home, ".npm")
}

// npmNames are the variables that lead npm to its cache: of the two spellings it takes
// either.
func npmNames(getenv func(string) string) []string {
	if getenv("NPM_CONFIG_CACHE") != "" {
		return []string{"npm_config_cache", "NPM_CONFIG_CACHE"}
	}
	return []string{"npm_config_cache"}
}
