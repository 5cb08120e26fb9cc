package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
)

// What is laid into the arbiter's tree is settled before the evidence is written, so that
// this names a file there only if the file is there. It follows from the run directory
// alone: who asks again lays out the same.

// laidFile is one file of the run directory.
type laidFile struct {
	name string // below the job's folder
	size int64
	why  string // it is left out, "" = it is not
}

// layout is what of the run directory is copied for the arbiter.
type layout struct {
	jobs map[string][]*laidFile
	left int64 // bytes that are left for the changed files
}

// has reports whether a file is copied.
func (l *layout) has(job, name string) bool {
	return slices.ContainsFunc(l.jobs[job], func(c *laidFile) bool { return c.name == name && c.why == "" })
}

// layOut settles what is copied, within most bytes: of all jobs what they said, then what
// they changed, then what else they left.
func (r *run) layOut(jobs []arbiter.JobEvidence, most int64) (*layout, error) {
	l := &layout{jobs: map[string][]*laidFile{}, left: most}
	said, changed, more := make([][]*laidFile, len(jobs)), make([][]*laidFile, len(jobs)), make([][]*laidFile, len(jobs))
	for i := range jobs {
		id := jobs[i].Job.ID
		from, err := r.led.OpenDir(id)
		if err != nil {
			return nil, err
		}
		said[i] = lookAt(from, []string{ledger.DiffstatFile, ledger.OutputFile})
		changed[i] = lookAt(from, []string{ledger.PatchFile})
		more[i] = lookAt(from, besides(&jobs[i].Status))
		if err := from.Close(); err != nil {
			return nil, err
		}
		l.jobs[id] = slices.Concat(said[i], changed[i], more[i])
	}
	for _, files := range [][][]*laidFile{said, changed, more} {
		l.left = allot(files, l.left)
	}
	return l, nil
}

// besides names what a job left beside its work.
func besides(s *ledger.JobStatus) []string {
	names := []string{ledger.PromptFile}
	for i, c := range s.Checks {
		if c.Kind == "run" {
			names = append(names, path.Join(ledger.ChecksDir, fmt.Sprintf("%d.out", i+1)), path.Join(ledger.ChecksDir, fmt.Sprintf("%d.err", i+1)))
		}
	}
	for _, a := range s.Artifacts {
		if a.Source != "tree" { // what is in the tree is among its files
			names = append(names, path.Join(ledger.ArtifactsDir, a.Path))
		}
	}
	return names
}

// lookAt is those of the files that are there, with what speaks against each by itself.
func lookAt(from *os.Root, names []string) (all []*laidFile) {
	for _, name := range names {
		most := int64(mostReviewed)
		if name == ledger.PatchFile {
			most = mostPatch
		}
		info, err := from.Stat(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c := &laidFile{name: name}
		all = append(all, c)
		switch {
		case err != nil:
			c.why = err.Error()
		case !info.Mode().IsRegular():
			c.why = "it is no file"
		case info.Size() > most:
			c.why = fmt.Sprintf("it has %d bytes, more than the %d that are copied", info.Size(), most)
		case instructs(name):
			c.why = couldInstruct
		default:
			c.size = info.Size()
		}
	}
	return all
}

// allot lays out what fits into what is left, and says what is left then. The jobs that
// need least come first: none goes without that needs no more than an equal share.
func allot(jobs [][]*laidFile, left int64) int64 {
	need := func(files []*laidFile) (n int64) {
		for _, c := range files {
			n += c.size
		}
		return n
	}
	order := slices.Clone(jobs)
	slices.SortStableFunc(order, func(a, b []*laidFile) int { return cmp.Compare(need(a), need(b)) })
	for _, files := range order {
		for _, c := range files {
			switch {
			case c.why != "":
			case c.size > left:
				c.why = tooMuch
			default:
				left -= c.size
			}
		}
	}
	return left
}

// placed is the evidence of a job whose files lie in this folder of the arbiter's tree,
// "" where it has none. A text that is not there is named in the run directory.
func (r *run) placed(e arbiter.JobEvidence, folder string, l *layout) arbiter.JobEvidence {
	e.Folder, e.Texts = "", slices.Clone(e.Texts)
	if folder != "" {
		e.Folder = path.Join(folder, e.Job.ID)
	}
	for i := range e.Texts {
		t := &e.Texts[i]
		t.Elsewhere = ""
		if name, ok := strings.CutPrefix(t.Ref, e.Job.ID+"/"); folder != "" && ok && !l.has(e.Job.ID, name) {
			t.Elsewhere = r.led.Path(t.Ref)
		}
	}
	return e
}
