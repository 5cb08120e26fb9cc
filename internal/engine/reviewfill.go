package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// Bounds of what is laid before the arbiter, in bytes. What is over one of them is left
// out, and named.
const (
	mostReviewed = 1 << 20   // a file as a job left it, an answer, an output
	mostPatch    = 32 << 20  // a patch
	mostReview   = 128 << 20 // all together
)

// leftOutFile names, in a job's folder, what is not there and why.
const leftOutFile = "left-out.txt"

// filesFolder holds the changed files of a job as they are in its snapshot.
const filesFolder = "files"

// privateFolders are those in which agents look for what to do; git's own is among them.
var privateFolders = [...]string{".git", ".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".agents"}

// Reasons why something is left out.
const (
	couldInstruct = "an agent that reads beside it could take it for instructions"
	tooMuch       = "all files together would have more bytes than are copied"
)

// reviewFiller writes into the arbiter's tree. Names are those of jobs, and may be
// anything: no file is written but below the folder of the job.
type reviewFiller struct {
	run  *run
	laid *layout
	left int64 // bytes that the changed files of this job may have

	job  string
	root *os.Root // the job's folder
	out  []string // what of the job is left out
}

// fillReview lays before the arbiter what each judged job left: of all jobs what the run
// directory has, then of each the changed files, as far as there is room.
func (r *run) fillReview(ctx context.Context, dir string, q question) (err error) {
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // what is written in it is closed for itself
	if err := tree.Mkdir(q.folder, 0o700); err != nil {
		return err
	}
	laid, err := r.layOut(q.bundle.Jobs, mostReview)
	if err != nil {
		return err
	}
	ids := r.byPatch(q.bundle.Jobs)
	for k, id := range ids {
		at := path.Join(q.folder, id)
		if err := tree.Mkdir(at, 0o700); err != nil {
			return err
		}
		root, err := tree.OpenRoot(at)
		if err != nil {
			return err
		}
		room := laid.left / int64(len(ids)-k)
		w := &reviewFiller{run: r, laid: laid, left: room, job: id, root: root}
		err = w.fill(ctx)
		laid.left -= room - w.left
		if err = errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

// byPatch are the jobs, those that changed little first: what they leave of their share
// goes to the others.
func (r *run) byPatch(jobs []arbiter.JobEvidence) (ids []string) {
	size := func(id string) int64 {
		if j := r.jobs[id]; j != nil && j.patch != nil {
			return j.patch.Bytes
		}
		return 0
	}
	for i := range jobs {
		ids = append(ids, jobs[i].Job.ID)
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
	return ids
}

func (w *reviewFiller) fill(ctx context.Context) error {
	if err := w.copies(); err != nil {
		return err
	}
	if err := w.files(ctx, w.run.jobs[w.job]); err != nil {
		return err
	}
	if len(w.out) == 0 {
		return nil
	}
	return w.root.WriteFile(leftOutFile, []byte("Left out of this folder:\n"+strings.Join(w.out, "")), 0o400)
}

// without notes that something is left out, and where it is to be seen.
func (w *reviewFiller) without(name, where, format string, args ...any) {
	why := fmt.Sprintf(format, args...) + "; " + where
	w.out = append(w.out, fmt.Sprintf("- %s: %s\n", untrusted.From(name).Line(0), untrusted.From(why).Line(0)))
}

// copies takes what the job left in the run directory.
func (w *reviewFiller) copies() error {
	from, err := w.run.led.OpenDir(w.job)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // opened for reading
	for _, c := range w.laid.jobs[w.job] {
		why := c.why
		if why == "" {
			data, err := from.ReadFile(filepath.FromSlash(c.name))
			if err == nil {
				err = w.write(c.name, w.run.redact.Bytes(data))
			}
			if err == nil {
				continue
			}
			why = err.Error()
		}
		w.without(c.name, "it is in "+w.run.led.Path(w.job, c.name), "%s", why)
	}
	return nil
}

// files takes the changed files as they are in the job's snapshot, line by line.
func (w *reviewFiller) files(ctx context.Context, j *jobRun) error {
	if j == nil || j.patch == nil || j.commit == "" || len(j.patch.Files) == 0 {
		return nil
	}
	if j.masked {
		w.without(filesFolder, w.patch()+" is a copy without it", "the patch holds what looks like a secret")
		return nil
	}
	var names []string
	for _, c := range j.patch.Files {
		if c.Status != "D" {
			names = append(names, c.Path)
		}
	}
	return w.run.plan.Repo.Contents(ctx, j.commit, names, mostReviewed, func(c workspace.Content) error {
		w.file(c)
		return ctx.Err()
	})
}

// patch is where the patch is: beside the files, or in the run directory.
func (w *reviewFiller) patch() string {
	if w.laid.has(w.job, ledger.PatchFile) {
		return ledger.PatchFile
	}
	return w.run.led.Path(w.job, ledger.PatchFile)
}

// file takes one changed file, or says why not.
func (w *reviewFiller) file(c workspace.Content) {
	name := path.Join(filesFolder, c.Path)
	clean := w.run.redact.Bytes(c.Data)
	var why string
	switch {
	case c.Mode == workspace.SubmoduleMode:
		why = "it is a submodule"
	case c.Data == nil && c.Size > 0:
		why = fmt.Sprintf("it has %d bytes, more than the %d that are copied", c.Size, mostReviewed)
	case bytes.IndexByte(c.Data, 0) >= 0:
		why = fmt.Sprintf("it is binary, of %d bytes", c.Size)
	case bytes.Count(clean, []byte("\n")) != bytes.Count(c.Data, []byte("\n")):
		why = "it holds what looks like a secret, of several lines"
	case instructs(name):
		why = couldInstruct
	case int64(len(clean)) > w.left:
		why = tooMuch
	default:
		err := w.write(name, clean)
		if err == nil {
			w.left -= int64(len(clean))
			return
		}
		why = err.Error()
	}
	w.without(name, w.patch()+" shows what was changed", "%s", why)
}

// write writes one file below the job's folder.
func (w *reviewFiller) write(name string, data []byte) error {
	local := filepath.FromSlash(name)
	err := w.root.MkdirAll(filepath.Dir(local), 0o700)
	if err == nil {
		err = w.root.WriteFile(local, data, 0o400)
	}
	if err != nil {
		return fmt.Errorf("it cannot be written here: %w", err)
	}
	return nil
}

// instructs reports whether an agent that works in a folder above may load a file by
// itself, as instructions or settings of a project.
func instructs(name string) bool {
	parts := strings.Split(name, "/")
	same := func(with string) func(string) bool {
		return func(s string) bool { return strings.EqualFold(s, with) }
	}
	if slices.ContainsFunc(told[:], same(parts[len(parts)-1])) {
		return true
	}
	return slices.ContainsFunc(parts, func(part string) bool { return slices.ContainsFunc(privateFolders[:], same(part)) })
}
