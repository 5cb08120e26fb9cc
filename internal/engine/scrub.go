package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
)

// searched bounds the files of an artifacts folder that are searched, in bytes.
const searched = 64 << 20

// scrubArtifacts redacts what a job left in its artifacts folder, which is a part
// of the run directory. Links are not followed.
func (r *run) scrubArtifacts(a *attempt) error {
	root, err := os.OpenRoot(filepath.Join(a.dir, ledger.ArtifactsDir))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through the folder itself
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > searched {
			r.tell(fmt.Sprintf("job %s: artifacts/%s has %d bytes and was not searched for secrets", a.job.ID, name, info.Size()))
			return nil
		}
		return r.scrubFile(root, a.job.ID, name, info.Mode())
	})
}

func (r *run) scrubFile(root *os.Root, job, name string, mode fs.FileMode) error {
	data, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	clean := r.redact.Bytes(data)
	if string(clean) == string(data) {
		return nil
	}
	r.tell(fmt.Sprintf("job %s: a secret in artifacts/%s was redacted", job, name))
	return root.WriteFile(name, clean, mode.Perm())
}

// withoutHunks is a patch for display: of every hunk in which a finding lies, the
// added lines are left out. lines are line numbers of the patch.
func withoutHunks(patch string, lines []int) string {
	bad := map[int]bool{}
	for _, n := range lines {
		bad[n] = true
	}
	var b, hunk strings.Builder
	dirty, n := false, 0
	flush := func() {
		for line := range strings.Lines(hunk.String()) {
			if dirty && strings.HasPrefix(line, "+") {
				line = "+[REDACTED:injected-secret]\n"
			}
			b.WriteString(line)
		}
		hunk.Reset()
		dirty = false
	}
	for line := range strings.Lines(patch) {
		n++
		if strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git ") {
			flush()
		}
		hunk.WriteString(line)
		dirty = dirty || bad[n]
	}
	flush()
	return b.String()
}
