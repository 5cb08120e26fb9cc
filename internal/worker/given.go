package worker

import (
	"path/filepath"
	"strings"

	"orchestrate/internal/shellword"
)

// fromStdin is what a manifest is called that was read from standard input.
const fromStdin = "standard input"

// command is the command line that does the call once more, from the workspace root. The
// prompt of a dispatch is in the folder of its call.
func (m *Manifest) command(p Prepared) string {
	words := []string{"orchestrate", m.opts.By, m.Run.ID}
	switch {
	case m.opts.By == "dispatch":
		words = append(words, m.jobs[0].ID, m.from(filepath.Join(p.Dir, filepath.FromSlash(m.jobs[0].PromptFile))))
	case m.Name == fromStdin:
		words = append(words, "-")
	default:
		words = append(words, m.from(m.Name))
	}
	line := shellword.Join(append(words, m.opts.Given...))
	if dir, err := filepath.Rel(m.Run.Root, m.opts.Cwd); err == nil && dir != "." {
		return "cd " + shellword.Quote(dir) + " && " + line
	}
	return line
}

// from is a path as it is typed where the call was made.
func (m *Manifest) from(path string) string {
	rel, err := filepath.Rel(m.opts.Cwd, path)
	switch {
	case err != nil || !filepath.IsAbs(path):
		return path
	case strings.HasPrefix(rel, "-"):
		return "./" + rel
	}
	return rel
}
