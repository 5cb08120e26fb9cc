package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// gather places what a job gets from others under its inputs/ folder: the inputs
// it names, the patch of each isolated writer that it depends on and, for an agent, the
// answer and declared outputs of each job that it depends on.
func (r *run) gather(ctx context.Context, j *spec.Job) ([]handed, error) {
	return r.collect(ctx, j, r.hand)
}

// readHanded is what gather would place now, without placing it.
func (r *run) readHanded(ctx context.Context, j *spec.Job) (all []handed, err error) {
	return r.collect(ctx, j, func(*spec.Job, want, []byte) error { return nil })
}

// collect reads what a job gets and hands on each file of it.
func (r *run) collect(ctx context.Context, j *spec.Job, hand func(*spec.Job, want, []byte) error) (all []handed, err error) {
	lacking := map[string]bool{}
	for _, in := range r.plan.wanted(j, r.builtOn) {
		if why := r.lacks(j, in); why != "" {
			if !lacking[in.from] {
				all = append(all, handed{From: in.from, Label: why})
			}
			lacking[in.from] = true
			continue
		}
		h, data, err := r.read(ctx, j, in)
		if errors.Is(err, os.ErrNotExist) && (!in.must || r.statusNow(in.from) == ledger.Skipped) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := hand(j, in, data); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return inBounds(all), nil
}

// inBounds takes from what is handed over the texts that are too much for one prompt; they
// are only named there.
func inBounds(all []handed) []handed {
	inlined := 0
	for i := range all {
		if n := all[i].Text.Len(); inlined+n > inlineTotal {
			all[i].Text = untrusted.Text{}
		} else {
			inlined += n
		}
	}
	return all
}

// lacks says why a job that does with the end of others gets nothing of one of them, "" =
// it gets what there is: half of an answer is none, nor is half of an output. What it is in
// the patch of is another matter, see builtOn.
func (r *run) lacks(j *spec.Job, w want) string {
	if !j.AfterAll || w.kind == thePatch {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.jobs[w.from].status; s != nil && !s.Status.Well() {
		return fmt.Sprintf("nothing: it is %s (%s)", s.Status, s.Reason)
	}
	return ""
}

// builtOn reports whether others start from what a job did in a tree of its own: it was
// needed, and came to nothing else than success.
func (r *run) builtOn(id string) bool { return r.isolated(id) && r.lasts(id) }

// lasts reports whether what a job does, or did, may be built on.
func (r *run) lasts(id string) bool {
	s := r.statusNow(id)
	return !s.Settled() || s == ledger.Success
}

// want is one file to hand over.
type want struct {
	from string
	kind kind
	file string // of a declared output
	sha  string
	must bool   // named by the spec: its absence is an error
	base bool   // the patch is in the tree that the job starts with
	on   string // whose work the patch is relative to, "" = the run's base
}

// kind says what sort of file is handed over.
type kind int

const (
	theAnswer kind = iota
	anOutput
	thePatch
)

// wanted lists what a job gets, each file once. isolated knows which jobs work in
// a tree of their own.
func (p *Plan) wanted(j *spec.Job, isolated func(string) bool) []want {
	if found := findingsFor(j); found != "" {
		return []want{{from: found, kind: theAnswer, must: true}}
	}
	var all []want
	add := func(w want) {
		if !slices.ContainsFunc(all, func(o want) bool { return o.from == w.from && o.kind == w.kind && o.file == w.file }) {
			all = append(all, w)
		}
	}
	for _, in := range j.Inputs {
		w := want{from: in.FromJob, sha: in.SHA256, must: true}
		if in.FromPath != "" {
			w.kind, w.file = anOutput, in.FromPath
		}
		add(w)
	}
	for _, id := range j.DependsOn {
		if !prompted(j) {
			break // a plain program gets what it names, and patches
		}
		if needsItem(j) && slices.Contains(j.Item.From, id) {
			continue // it gets its item
		}
		if id == j.Continue {
			continue // its session knows that
		}
		add(want{from: id, kind: theAnswer})
		for _, o := range p.outputsOf(id) {
			add(want{from: id, kind: anOutput, file: o.Path})
		}
	}
	holds := p.Graph.Holds(j.ID, isolated)
	for _, id := range p.workersBehind(j) {
		if dep, ok := p.Graph.Job(id); ok && id != j.Continue && dep.Writes() && isolated(id) {
			on, _ := p.Graph.BaseOf(id, isolated)
			add(want{from: id, kind: thePatch, base: slices.Contains(holds, id), on: on})
		}
	}
	return all
}

// outputsOf are the declared outputs of a job; of one that gathers rounds of work, those of
// the work.
func (p *Plan) outputsOf(id string) []spec.Output {
	if rounds := p.ownRounds(id); rounds != nil {
		id = rounds[0]
	}
	if pl, ok := p.Planned(id); ok {
		return pl.Job.Outputs
	}
	return nil
}

// workersBehind are the jobs whose work a job is given: those that it depends on, for each
// that gathers rounds of work those, and for a round of mending all rounds from the first,
// since the work is what they made together.
func (p *Plan) workersBehind(j *spec.Job) (all []string) {
	for _, id := range j.DependsOn {
		pl, ok := p.Planned(id)
		switch {
		case ok && pl.Job.Gather != nil:
			all = append(append(all, id), pl.Job.Gather.Work...)
		case id == j.Continue:
			all = append(all, id) // its session knows what was before
		default:
			all = append(all, p.roundsTo(id)...)
		}
	}
	return all
}

// roundsTo are the rounds of a repair's work up to the given one, in their order; of any
// other job that one alone.
func (p *Plan) roundsTo(id string) (all []string) {
	for {
		all = append(all, id)
		pl, ok := p.Planned(id)
		if !ok || findingsFor(pl.Job) == "" {
			slices.Reverse(all)
			return all
		}
		id = pl.Job.Continue
	}
}

// read reads one file that a job gets, as it gets it.
func (r *run) read(ctx context.Context, j *spec.Job, w want) (handed, []byte, error) {
	data, err := r.fileOf(ctx, w)
	if err != nil {
		return handed{}, nil, fmt.Errorf("job %s needs %s of job %s: %w", j.ID, label(w), w.from, err)
	}
	if sum := digest(data); w.sha != "" && sum != w.sha {
		return handed{}, nil, fmt.Errorf("job %s: %s of job %s has sha256 %s, the spec says %s", j.ID, label(w), w.from, sum, w.sha)
	}
	rel := ledger.JobPath(j.ID, ledger.InputsDir, w.from, w.name())
	h := handed{From: w.from, Label: label(w) + r.caution(w), Path: r.led.Path(rel), SHA256: digest(data), base: w.base}
	if clean := r.redact.Bytes(data); len(clean) <= inlineLimit && utf8.Valid(clean) {
		h.Text = untrusted.From(string(clean))
	}
	return h, data, nil
}

// hand puts one file into the job's inputs.
func (r *run) hand(j *spec.Job, w want, data []byte) error {
	clean := r.redact.Bytes(data)
	if !bytes.Equal(clean, data) {
		r.tell(fmt.Sprintf("job %s: a secret in %s of job %s was redacted before the job got it", j.ID, label(w), w.from))
	}
	rel := ledger.JobPath(j.ID, ledger.InputsDir, w.from, w.name())
	if err := r.led.MkdirAll(path.Dir(rel)); err != nil {
		return err
	}
	return r.led.WriteFile(rel, clean)
}

// caution says of a patch that was redacted what it is not good for.
func (r *run) caution(w want) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[w.from]
	if w.kind != thePatch || j == nil || !j.masked || j.patch == nil {
		return ""
	}
	return fmt.Sprintf(" (a redacted copy that cannot be applied; `git diff %s %s` shows all of it)", j.patch.Base, j.patch.Commit)
}

// name is that of the file among the inputs from one job. A declared output that
// is named like our own files gets a name that differs.
func (w want) name() string {
	switch {
	case w.kind == theAnswer:
		return ledger.OutputFile
	case w.kind == thePatch:
		return ledger.PatchFile
	case w.file == ledger.OutputFile, w.file == ledger.PatchFile:
		return "declared-" + w.file
	}
	return w.file
}

func label(w want) string {
	switch w.kind {
	case theAnswer:
		return "final answer"
	case thePatch:
		switch {
		case w.base && w.on != "":
			return "patch (on top of what job " + w.on + " left; this working directory starts with it applied)"
		case w.base:
			return "patch (this working directory starts with it applied)"
		case w.on != "":
			return "patch (not in this working directory; relative to what job " + w.on + " left)"
		}
		return "patch (not in this working directory)"
	}
	return w.file
}

// fileOf reads what an earlier job left: its answer and patch from its directory,
// a declared output from its snapshot commit, its tree or its artifacts folder.
func (r *run) fileOf(ctx context.Context, w want) ([]byte, error) {
	switch w.kind {
	case theAnswer:
		return r.led.ReadFile(ledger.JobPath(w.from, ledger.OutputFile))
	case thePatch:
		return r.led.ReadFile(ledger.JobPath(w.from, ledger.PatchFile))
	}
	pl, ok := r.plan.Planned(r.standsFor(w.from))
	if !ok {
		return nil, fmt.Errorf("no job %s", w.from)
	}
	from := pl.Job
	if !from.Writes() {
		return r.led.ReadFile(ledger.JobPath(from.ID, ledger.ArtifactsDir, w.file))
	}
	if commit, ok := r.snapshot(from.ID); ok && r.plan.Repo != nil {
		name := relTo(r.plan.Repo.Top(), filepath.Join(from.Cwd, filepath.FromSlash(w.file)))
		if data, err := r.plan.Repo.ReadFileAt(ctx, commit, name); err == nil {
			return data, nil
		}
	}
	return r.ignoredOutput(from, w.file)
}

// ignoredOutput reads an output that git ignores, and that the snapshot therefore
// lacks, from where the job left it. It must still be what was recorded.
func (r *run) ignoredOutput(from *spec.Job, name string) ([]byte, error) {
	r.mu.Lock()
	j := r.jobs[from.ID]
	status, dir := j.status, j.dir
	r.mu.Unlock()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // opened for reading
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	for _, a := range status.Artifacts {
		if a.Path == name && a.SHA256 == digest(data) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%s is not what the job left any more", name)
}
