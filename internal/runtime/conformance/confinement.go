package conformance

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// confinementPlaces: what a program may write and where its sign-in lies are places of
// its own in the person's home, known only where that is, and the same each time.
func confinementPlaces(t *testing.T, s Subject) (faults []string) {
	c, ok := s.Adapter.(runtime.Confined)
	if !ok {
		return []string{"it does not say which files its program needs"}
	}
	home := t.TempDir()
	at := c.Confinement(func(name string) string {
		return map[string]string{"HOME": home}[name]
	})
	for _, path := range slices.Concat(at.State, at.Credentials) {
		switch rel, err := filepath.Rel(home, path); {
		case !filepath.IsAbs(path) || filepath.Clean(path) != path:
			faults = append(faults, fmt.Sprintf("%q is no absolute path", path))
		case err != nil || rel == "." || strings.HasPrefix(rel, ".."):
			faults = append(faults, fmt.Sprintf("%q is not below the home folder", path))
		case slices.Contains([]string{".config", ".cache", ".local", filepath.Join(".local", "share"), filepath.Join(".local", "state")}, rel):
			faults = append(faults, fmt.Sprintf("%q belongs to every program", path))
		}
	}
	for _, f := range at.Files {
		if f.Name != filepath.Base(f.Name) || f.Variable == "" || f.Text == "" {
			faults = append(faults, fmt.Sprintf("a private file %q for the variable %q", f.Name, f.Variable))
		}
	}
	nowhere := c.Confinement(func(string) string { return "" })
	if len(nowhere.State)+len(nowhere.Credentials) > 0 {
		faults = append(faults, fmt.Sprintf("places without a home: %q", slices.Concat(nowhere.State, nowhere.Credentials)))
	}
	return faults
}
