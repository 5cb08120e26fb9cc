package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/graph"
	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// A list that another job makes is found when that has succeeded, once: it is durable
// before any job of it begins, so that a resumed run has the same.

// listed is a list as this engine knows it.
type listed struct {
	recorded *ledger.Expanded     // by an engine before, nil = by none
	found    bool                 // it was looked for by this one
	items    int                  // that it has
	jobs     map[string]*spec.Job // of the list, with their items filled in
	trouble  string               // why it cannot be used, "" = it can
}

// itemOf gives a job of a list its item, or settles it where there is none for it.
func (r *run) itemOf(j *jobRun) (d closed, over bool) {
	id := j.planned.Job.ID
	raw, ok := r.plan.Graph.Job(id)
	if !ok || !needsItem(raw) {
		return closed{}, false
	}
	if of := raw.Item.From; !slices.ContainsFunc(of, func(id string) bool { return r.statusNow(id) != ledger.Skipped }) {
		return r.skip(j, "the list has no items: "+of[0]+" was not needed"), true
	}
	l := r.listFor(raw)
	switch {
	case r.isBroken():
		return closed{}, false
	case l.trouble != "":
		return closed{status: r.unattempted(id, ledger.Blocked, runtime.BlockedExpansion, untrusted.From(l.trouble))}, true
	case raw.Item.Number > l.items:
		return r.skip(j, fmt.Sprintf("the list has %s", counted(l.items, "item"))), true
	}
	r.mu.Lock()
	j.planned.Job = l.jobs[id]
	r.mu.Unlock()
	return closed{}, false
}

// counted is a number of things in words.
func counted(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// isBroken reports whether the ledger failed, so that nothing may begin.
func (r *run) isBroken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken != nil
}

// listFor is the list of a job, found now if it was not yet.
func (r *run) listFor(raw *spec.Job) *listed {
	l := r.lists[raw.Item.Of]
	if l == nil {
		l = &listed{}
		r.lists[raw.Item.Of] = l
	}
	if !l.found {
		l.found = true
		if err := r.findList(raw, l); err != nil {
			l.trouble = err.Error()
		}
	}
	return l
}

// findList takes a list from the answers that hold it, or from the record where these are
// the same.
func (r *run) findList(raw *spec.Job, l *listed) error {
	answers, sources, err := r.sourcesOf(raw.Item)
	if err != nil {
		return err
	}
	recorded := l.recorded != nil && slices.Equal(l.recorded.Sources, sources)
	x := ledger.Expanded{Of: raw.Item.Of, Sources: sources}
	if recorded {
		x = *l.recorded
	} else if x.Items, err = itemsIn(answers, raw.Item); err != nil {
		err = r.orCut(err, raw.Item.From)
		return fmt.Errorf("%s: %w", some(raw.Item.From), err)
	}
	l.items = len(x.Items)
	if l.jobs, err = fillAll(r.plan.Spec.Jobs, x, mostFilled); err != nil {
		return err
	}
	if err := r.plan.admit(l.jobs); err != nil {
		return err
	}
	if recorded {
		return nil
	}
	failpoint.Hit(failpoint.ExpandBefore)
	if err := r.led.Append(ledger.ExpandedTo(raw.ID, x)); err != nil {
		r.fail(err)
		return err
	}
	failpoint.Hit(failpoint.ExpandAfter)
	return nil
}

// sourcesOf are the answers in which a list is to be, and the digest of each.
func (r *run) sourcesOf(item *spec.Item) (answers, sources []string, err error) {
	for _, id := range item.From {
		if r.statusNow(id) != ledger.Success {
			continue
		}
		answer, err := r.answerOf(id)
		if err != nil {
			return nil, nil, err
		}
		answers, sources = append(answers, answer), append(sources, digest([]byte(answer)))
	}
	if len(answers) == 0 {
		return nil, nil, fmt.Errorf("there is no answer to take the list from: %s left none", some(item.From))
	}
	return answers, sources, nil
}

// mostOfItem bounds in bytes the text of one item: it is also in the environment of its
// program, where systems bound it.
const mostOfItem = 64 << 10

// itemsIn are the items of a list in answers, held against its bounds.
func itemsIn(answers []string, of *spec.Item) ([]json.RawMessage, error) {
	items, err := pattern.Items(answers, of.Path)
	switch {
	case err != nil:
		return nil, err
	case len(items) > of.Max:
		return nil, fmt.Errorf("the list at %s has %s, max is %d", of.Path, counted(len(items), "item"), of.Max)
	}
	for i, it := range items {
		switch text := pattern.Text(it); {
		case len(text) > mostOfItem:
			return nil, fmt.Errorf("item %d of the list has %d bytes, at most %d are allowed", i+1, len(text), mostOfItem)
		case strings.Contains(text, "\x00"):
			return nil, fmt.Errorf("item %d of the list has a NUL character, which no program could be given", i+1)
		}
	}
	if items == nil {
		items = []json.RawMessage{} // as the record has it
	}
	return items, nil
}

// mostFilled bounds the texts that one list is filled in into, together, in bytes: they are kept
// as long as the run goes on.
const mostFilled = 256 << 20

// fillAll are the jobs of a list with their items filled in, by their ids. Their texts may
// come to most bytes.
func fillAll(jobs []spec.Job, x ledger.Expanded, most int) (map[string]*spec.Job, error) {
	all := map[string]*spec.Job{}
	for i := range jobs {
		raw := &jobs[i]
		if !needsItem(raw) || raw.Item.Of != x.Of || raw.Item.Number > len(x.Items) {
			continue
		}
		j, err := fillJob(raw, x.Items[raw.Item.Number-1])
		if err != nil {
			return nil, fmt.Errorf("item %d, of job %s: %w", raw.Item.Number, raw.ID, err)
		}
		if most -= newText(raw.Prompt, j.Prompt) + newText(raw.ExpectedOutput, j.ExpectedOutput); most < 0 {
			return nil, fmt.Errorf("with item %d the prompts that items are filled in into have more than %d bytes (256 MiB) together; shorten the prompt, or the list", raw.Item.Number, mostFilled)
		}
		all[raw.ID] = j
	}
	return all, nil
}

// newText is what a text takes beside the one that it was made from, in bytes.
func newText(raw, filled string) int {
	if raw == filled {
		return 0
	}
	return len(filled)
}

// fillKnown fills in the lists that an engine before has recorded. What stands against one by
// now is said where its jobs are to begin, see findList: it is no matter of the other jobs.
func (p *Plan) fillKnown(lists map[string]ledger.Expanded) {
	for _, x := range lists {
		jobs, err := fillAll(p.Spec.Jobs, x, mostFilled)
		if err != nil {
			continue
		}
		for i := range p.Jobs {
			j := jobs[p.Jobs[i].Job.ID]
			if j == nil {
				continue
			}
			if j.Cwd != p.Spec.Jobs[i].Cwd {
				if dir, err := p.folderOf(j); err == nil {
					j.Cwd = dir // as it was when the list was found
				}
			}
			p.Jobs[i].Job = j
		}
	}
}

// fillJob is a job with an item filled in. What it is made from stays as it is.
func fillJob(raw *spec.Job, item json.RawMessage) (*spec.Job, error) {
	j := *raw
	it := *raw.Item
	it.Value = item
	j.Item = &it
	var err error
	fill := func(with func(string, json.RawMessage, int) (string, error), where, text string) string {
		out, bad := with(text, item, it.Number)
		if bad != nil && err == nil {
			err = fmt.Errorf("%s: %w", where, bad)
		}
		return out
	}
	j.Prompt = fill(pattern.Fill, "prompt", raw.Prompt)
	j.ExpectedOutput = fill(pattern.Fill, "expected_output", raw.ExpectedOutput)
	j.Cwd = fill(pattern.FillPath, "cwd", raw.Cwd)
	j.OwnedPaths, j.Outputs = slices.Clone(raw.OwnedPaths), slices.Clone(raw.Outputs)
	for i, p := range raw.OwnedPaths {
		j.OwnedPaths[i] = spec.OwnedPath(fill(pattern.FillGlob, "owned_paths", p))
	}
	for i, o := range raw.Outputs {
		j.Outputs[i].Path = path.Clean(fill(pattern.FillPath, "outputs", o.Path))
	}
	return &j, err
}

// admit holds the jobs of a list against what the spec asks of paths, now that these are
// known, and against one another.
func (p *Plan) admit(jobs map[string]*spec.Job) error {
	writers := map[int]*spec.Job{} // one per item: what an item has of several is one after the other
	for i := range p.Spec.Jobs {
		j := jobs[p.Spec.Jobs[i].ID]
		if j == nil {
			continue
		}
		if err := p.admitPaths(j, &p.Spec.Jobs[i]); err != nil {
			return fmt.Errorf("item %d, of job %s: %w", j.Item.Number, j.ID, err)
		}
		if j.Writes() && writers[j.Item.Number] == nil {
			writers[j.Item.Number] = j
		}
	}
	return apart(writers)
}

// apart makes sure that no two items may write the same files at the same time.
func apart(writers map[int]*spec.Job) error {
	listed := slices.Sorted(maps.Keys(writers)) // of several pairs always the same one is named
	for i, n := range listed {
		for _, m := range listed[i+1:] {
			a, b := writers[n], writers[m]
			if a.Serialize != "" && a.Serialize == b.Serialize {
				continue
			}
			if why := graph.Overlap(a, b); why != "" {
				return fmt.Errorf("items %d and %d may write the same files at the same time: %s", n, m, why)
			}
		}
	}
	return nil
}

// admitPaths holds the paths of a job with its item against the workspace, and against what
// the job was judged by while nobody knew the item.
func (p *Plan) admitPaths(j, raw *spec.Job) error {
	if j.Cwd != raw.Cwd {
		dir, err := p.folderOf(j)
		if err != nil {
			return err
		}
		j.Cwd = dir
	}
	if j.Writes() && j.OwnsCwd() && !raw.OwnsCwd() {
		return fmt.Errorf("owned_paths: %s is its whole cwd, and what it needs was decided for a part of that; a job that is to own it all has no item in owned_paths", some(j.OwnedPaths))
	}
	for _, owned := range j.OwnedPaths {
		if err := admitPath(j, owned); err != nil {
			return fmt.Errorf("owned_paths: %w", err)
		}
	}
	for _, o := range j.Outputs {
		if o.Path == "." {
			return errors.New("outputs: it is the folder itself")
		}
		if err := admitPath(j, o.Path); err != nil {
			return fmt.Errorf("outputs: %w", err)
		}
	}
	return nil
}

// admitPath holds one path against what is in the job's folder by now.
func admitPath(j *spec.Job, path string) error {
	if reachesGit(path) {
		return fmt.Errorf("%q reaches into a .git folder", path)
	}
	if !j.Writes() {
		return nil
	}
	_, err := ownedFolder(j.Cwd, path)
	return err
}

// folderOf is the folder that the cwd of a job with its item leads to.
func (p *Plan) folderOf(j *spec.Job) (string, error) {
	dir, err := filepath.EvalSymlinks(j.Cwd)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // the path is said
		}
		return "", fmt.Errorf("cwd %s does not lead to a folder: %w", j.Cwd, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("cwd %s is no folder", j.Cwd)
	}
	at := slices.IndexFunc(p.Spec.WorkspaceRoots, func(root string) bool { return inside(root, dir) })
	switch {
	case at < 0:
		return "", fmt.Errorf("cwd %s is %s, outside the workspace roots", j.Cwd, dir)
	case reachesGit(relTo(p.Spec.WorkspaceRoots[at], dir)):
		return "", fmt.Errorf("cwd %s reaches into a .git folder", j.Cwd)
	}
	return dir, nil
}

func reachesGit(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}
