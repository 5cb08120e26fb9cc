package engine

import (
	"bytes"
	"context"
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

// reviewFiller writes into the arbiter's tree. Names are those of jobs, and may be
// anything: no file is written but below the folder of the job.
type reviewFiller struct {
	run  *run
	left int64 // bytes that may still be written

	job  string
	root *os.Root // the job's folder
	out  []string // what of the job is left out
}

// fillReview lays before the arbiter what each judged job left.
func (r *run) fillReview(ctx context.Context, dir string, q question) (err error) {
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // what is written in it is closed for itself
	if err := tree.Mkdir(q.folder, 0o700); err != nil {
		return err
	}
	w := &reviewFiller{run: r, left: mostReview}
	for i := range q.bundle.Jobs {
		at := path.Join(q.folder, q.bundle.Jobs[i].Job.ID)
		if err := tree.Mkdir(at, 0o700); err != nil {
			return err
		}
		root, err := tree.OpenRoot(at)
		if err != nil {
			return err
		}
		err = w.fill(ctx, root, &q.bundle.Jobs[i])
		if err = errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (w *reviewFiller) fill(ctx context.Context, root *os.Root, e *arbiter.JobEvidence) error {
	w.job, w.root, w.out = e.Job.ID, root, nil
	if err := w.copies(&e.Status); err != nil {
		return err
	}
	if err := w.files(ctx, w.run.jobs[w.job]); err != nil {
		return err
	}
	if len(w.out) == 0 {
		return nil
	}
	return root.WriteFile(leftOutFile, []byte("Left out of this folder:\n"+strings.Join(w.out, "")), 0o400)
}

// without notes that something is left out.
func (w *reviewFiller) without(name, format string, args ...any) {
	w.out = append(w.out, fmt.Sprintf("- %s: %s\n", untrusted.From(name).Line(0), untrusted.From(fmt.Sprintf(format, args...)).Line(0)))
}

// copies takes what the job left in the run directory.
func (w *reviewFiller) copies(s *ledger.JobStatus) error {
	from, err := w.run.led.OpenDir(w.job)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // opened for reading
	names := []string{ledger.PromptFile, ledger.OutputFile, ledger.PatchFile, ledger.DiffstatFile}
	for i, c := range s.Checks {
		if c.Kind == "run" {
			names = append(names, path.Join(ledger.ChecksDir, fmt.Sprintf("%d.out", i+1)), path.Join(ledger.ChecksDir, fmt.Sprintf("%d.err", i+1)))
		}
	}
	for _, name := range names {
		w.copy(from, name)
	}
	for _, a := range s.Artifacts {
		if a.Source != "tree" { // what is in the tree is among its files
			w.copy(from, path.Join(ledger.ArtifactsDir, a.Path))
		}
	}
	return nil
}

// copy takes one file, if it is there.
func (w *reviewFiller) copy(from *os.Root, name string) {
	most := int64(mostReviewed)
	if name == ledger.PatchFile {
		most = mostPatch
	}
	info, err := from.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no file")
	case err == nil && info.Size() > most:
		err = fmt.Errorf("it has %d bytes, more than the %d that are copied", info.Size(), most)
	}
	var data []byte
	if err == nil {
		data, err = from.ReadFile(filepath.FromSlash(name))
	}
	if err != nil {
		w.without(name, "%v; it is in %s", err, w.run.led.Path(w.job, name))
		return
	}
	w.write(name, w.run.redact.Bytes(data))
}

// files takes the changed files as they are in the job's snapshot, line by line.
func (w *reviewFiller) files(ctx context.Context, j *jobRun) error {
	if j == nil || j.patch == nil || j.commit == "" || len(j.patch.Files) == 0 {
		return nil
	}
	if j.masked {
		w.without(filesFolder, "the patch holds what looks like a secret; %s is a copy without it", ledger.PatchFile)
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

func (w *reviewFiller) file(c workspace.Content) {
	name := path.Join(filesFolder, c.Path)
	clean := w.run.redact.Bytes(c.Data)
	switch {
	case c.Mode == workspace.SubmoduleMode:
		w.without(name, "it is a submodule")
	case c.Data == nil && c.Size > 0:
		w.without(name, "it has %d bytes, more than the %d that are copied", c.Size, mostReviewed)
	case bytes.IndexByte(c.Data, 0) >= 0:
		w.without(name, "it is binary, of %d bytes", c.Size)
	case bytes.Count(clean, []byte("\n")) != bytes.Count(c.Data, []byte("\n")):
		w.without(name, "it holds what looks like a secret, of several lines")
	default:
		w.write(name, clean)
	}
}

// write writes one file below the job's folder, or leaves it out.
func (w *reviewFiller) write(name string, data []byte) {
	if instructs(name) {
		w.without(name, "an agent that reads beside it could take it for instructions; %s shows it", ledger.PatchFile)
		return
	}
	if int64(len(data)) > w.left {
		w.without(name, "all files together would have more than %d bytes", int64(mostReview))
		return
	}
	local := filepath.FromSlash(name)
	err := w.root.MkdirAll(filepath.Dir(local), 0o700)
	if err == nil {
		err = w.root.WriteFile(local, data, 0o400)
	}
	if err != nil {
		w.without(name, "it cannot be written here: %v", err)
		return
	}
	w.left -= int64(len(data))
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
