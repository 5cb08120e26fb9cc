package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"orchestrate/internal/runtime"
)

// lookPath finds an executable in the folders of path. A folder that is not
// absolute would mean another program in every cwd; it is skipped.
func lookPath(path, name string) (string, error) {
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("%s: give a plain name or an absolute path", name)
		}
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w in PATH", name, exec.ErrNotFound)
}

// hashed is a digest with what a file must still be for it to hold.
type hashed struct {
	size   int64
	mtime  time.Time
	sha256 string
}

// Hash identifies an executable by its content. A file that was hashed before and
// has kept size and time is not read again.
func (h *LiveHost) Hash(path string) (runtime.Executable, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return runtime.Executable{}, err
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return runtime.Executable{}, err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return runtime.Executable{}, err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return runtime.Executable{}, fmt.Errorf("%s is not a regular file", resolved)
	}
	sum, err := h.digest(resolved, info)
	return runtime.Executable{Path: abs, Resolved: resolved, SHA256: sum}, err
}

func (h *LiveHost) digest(path string, info fs.FileInfo) (string, error) {
	h.mu.Lock()
	old, ok := h.hashes[path]
	h.mu.Unlock()
	if ok && old.size == info.Size() && old.mtime.Equal(info.ModTime()) {
		return old.sha256, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	fresh := hashed{info.Size(), info.ModTime(), hex.EncodeToString(sum.Sum(nil))}
	h.mu.Lock()
	h.hashes[path] = fresh
	h.mu.Unlock()
	return fresh.sha256, nil
}
