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

// page makes report.html. What it shows is redacted before it becomes HTML, in which a
// secret with a character that is escaped there would not be known.
func (r *run) page(rep report.Report) ([]byte, error) {
	return cleaned(r, rep).HTML(PageFiles(r.led, r.redact.String))
}

// PageFiles gives a page parts of the files of a run's directory, passed through redact.
// Links are not followed, and no more of a file is read than is shown.
func PageFiles(led *ledger.Run, redact func(string) string) report.Files {
	return pageFiles{led, redact}
}

type pageFiles struct {
	led    *ledger.Run
	redact func(string) string
}

// Size implements report.Files.
func (p pageFiles) Size(rel string) (bytes int64, ok bool) {
	root, err := p.led.OpenDir(path.Dir(rel))
	if err != nil {
		return 0, false
	}
	defer root.Close() //nolint:errcheck // opened for reading only
	info, err := root.Lstat(path.Base(rel))
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// Read implements report.Files. Of a file that cannot be read there is nothing to show.
func (p pageFiles) Read(rel string, most int) report.Excerpt {
	size, ok := p.Size(rel)
	if !ok {
		return report.Excerpt{}
	}
	root, err := p.led.OpenDir(path.Dir(rel))
	if err != nil {
		return report.Excerpt{}
	}
	defer root.Close() //nolint:errcheck // opened for reading only
	f, err := root.Open(path.Base(rel))
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
func (p pageFiles) ends(f *os.File, size int64, most int) (x report.Excerpt) {
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
