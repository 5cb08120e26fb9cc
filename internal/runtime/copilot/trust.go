package copilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
)

// trustKey is how a folder that the user has trusted is kept among the profile's
// flags. In it and below it hooks and tool servers of a project are started, which
// could write whatever tools the agent gets; elsewhere they are not.
func trustKey(dir string) string { return "trusted folder: " + dir }

// readTrust notes the trusted folders and returns what keeps a project's code out
// elsewhere, or why that is not known. No flag trusts a folder less, and no
// command tells which are trusted, so the list is read where the program keeps it.
func readTrust(host runtime.Host, p *runtime.Profile) (kept string, err error) {
	home := host.Getenv(homeEnv)
	if home == "" {
		home = filepath.Join(host.Getenv("HOME"), ".copilot")
	}
	if !filepath.IsAbs(home) {
		return "", errors.New("where copilot keeps its list of trusted folders is not known")
	}
	for _, name := range []string{"config.json", "settings.json"} {
		file := filepath.Join(home, name)
		dirs, err := trustedIn(file)
		if err != nil {
			return "", fmt.Errorf("which folders copilot trusts is not known: %w", err)
		}
		for _, dir := range dirs {
			p.Flags[trustKey(dir)] = file
		}
	}
	return "hooks and tool servers of a project are loaded from trusted folders only", nil
}

// trustedIn reads one of the program's files; one that is not there lists nothing.
func trustedIn(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lists struct {
		Now    []string `json:"trustedFolders"`
		Before []string `json:"trusted_folders"`
	}
	if data = withoutComments(data); len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &lists); err != nil {
		return nil, fmt.Errorf("%s is not understood: %w", file, err)
	}
	return append(lists.Now, lists.Before...), nil
}

// withoutComments drops the comment lines with which the program begins its files.
func withoutComments(data []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			kept = append(kept, line...)
		}
	}
	return bytes.TrimSpace(kept)
}

// trustedAbove is the trusted folder that dir lies in, or "".
func trustedAbove(p runtime.Profile, dir string) string {
	for key := range p.Flags {
		trusted, ok := strings.CutPrefix(key, trustKey(""))
		if ok && (within(trusted, dir) || within(resolved(trusted), resolved(dir))) {
			return trusted
		}
	}
	return ""
}

func within(folder, dir string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved is dir past its symbolic links, as far as that can be told.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
