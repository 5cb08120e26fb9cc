package engine

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
)

// page writes report.html. What it shows is redacted before it becomes HTML, in which a
// secret with a character that is escaped there would not be known: rep is clean.
func (r *run) page(rep report.Report) error {
	files := PageFiles(r.led, r.redact.String)
	defer files.Close()
	return r.led.WriteFrom(ledger.ReportHTMLFile, func(w io.Writer) error { return rep.WriteHTML(w, files) })
}

// PageFiles gives a page parts of the files of a run's directory, passed through redact.
// Links are not followed, and no more of a file is read than is shown.
func PageFiles(led *ledger.Run, redact func(string) string) *RunFiles {
	return &RunFiles{led: led, redact: redact}
}

// RunFiles is report.Files. It keeps the folder that was last asked for open, since a page
// asks for a job's files one after the other.
type RunFiles struct {
	led    *ledger.Run
	redact func(string) string
	dir    string
	root   *os.Root // nil = there is no such folder
	asked  bool
}

// Close lets go of the folder.
func (p *RunFiles) Close() {
	if p.root != nil {
		p.root.Close() //nolint:errcheck // opened for reading only
	}
	p.root, p.asked = nil, false
}

func (p *RunFiles) folder(dir string) *os.Root {
	if !p.asked || p.dir != dir {
		p.Close()
		root, err := p.led.OpenDir(dir)
		if p.dir, p.asked = dir, true; err == nil {
			p.root = root
		}
	}
	return p.root
}

// Size implements report.Files.
func (p *RunFiles) Size(rel string) (bytes int64, ok bool) {
	root := p.folder(path.Dir(rel))
	if root == nil {
		return 0, false
	}
	info, err := root.Lstat(path.Base(rel))
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// Read implements report.Files. Of a file that cannot be read there is nothing to show.
func (p *RunFiles) Read(rel string, most int) report.Excerpt {
	size, ok := p.Size(rel)
	if !ok {
		return report.Excerpt{}
	}
	f, err := p.folder(path.Dir(rel)).Open(path.Base(rel))
	if err != nil {
		return report.Excerpt{}
	}
	defer f.Close()
	if size <= int64(most) {
		all, _ := slice(f, 0, size)
		return report.Excerpt{Head: p.redact(all)}
	}
	return p.ends(f, size, most)
}

// ends reads the beginning and the end of a file, whole lines where it has some.
func (p *RunFiles) ends(f *os.File, size int64, most int) (x report.Excerpt) {
	first, last := int64(most-most/3), int64(most/3)
	head, errHead := slice(f, 0, first)
	tail, errTail := slice(f, size-last, last)
	if errors.Join(errHead, errTail) != nil {
		return report.Excerpt{}
	}
	if n := strings.LastIndexByte(head, '\n'); n >= len(head)/2 {
		head = head[:n+1]
	}
	if n := strings.IndexByte(tail, '\n'); n >= 0 && n < len(tail)/2 {
		tail = tail[n+1:]
	}
	x.Left = size - int64(len(head)+len(tail))
	x.Head, x.Tail = p.redact(strings.ToValidUTF8(head, "")), p.redact(strings.ToValidUTF8(tail, ""))
	return x
}

// slice reads so much of a file from there on; it may be shorter by now.
func slice(f io.ReaderAt, from, n int64) (string, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, from, n))
	return string(data), err
}
