package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
)

// Keeper keeps the folders of a call's tasks while the call goes on. What it misses,
// because it died, Project does.
type Keeper struct {
	run     Run
	call    Call
	older   []Call // that began before it
	stands  map[string]*progress
	lineage lineages
}

// Keeper is for the process that carries a call on.
func (r Run) Keeper(callDir string) (*Keeper, error) {
	calls, err := r.callDirs()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(calls, func(c Call) bool { return filepath.Base(c.Dir) == filepath.Base(callDir) })
	if i < 0 {
		return nil, fmt.Errorf("%s is no call of worker run %s", callDir, r.ID)
	}
	k := &Keeper{run: r, call: calls[i], older: calls[:i], stands: map[string]*progress{}, lineage: lineages{dir: callDir}}
	k.call.Live = true
	for j := range k.older {
		if k.older[j].Info, err = ledger.Begun(k.older[j].Dir); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Record takes the next record of the call. When it returns, the folder of the task that
// the record is about is as it should be.
func (k *Keeper) Record(rec ledger.Record) error {
	if !told(rec.Kind) || rec.Job == ledger.ArbiterJob {
		return nil
	}
	p := k.stands[rec.Job]
	if p == nil {
		p = &progress{}
		k.stands[rec.Job] = p
	}
	p.record(rec)
	t, err := k.task(rec.Job, p)
	if err != nil || p.state == ledger.Skipped {
		return err
	}
	if t.settled() {
		delete(k.stands, rec.Job) // a later attempt begins anew; nothing is held for it
	}
	return k.keep(t)
}

func (k *Keeper) task(id string, p *progress) (Task, error) {
	of, err := k.lineage.of(id, p.last)
	return k.run.taskOf(k.call, id, p, of), err
}

// keep lays a task's folder, after what an older call left in it is out of the way.
func (k *Keeper) keep(t Task) error {
	if err := makeRoom(t.Dir, k.call.ID, k.nth(t.ID)); err != nil {
		return fmt.Errorf("%s: %w", t.Dir, err)
	}
	if err := t.lay(t.Dir); err != nil {
		return fmt.Errorf("%s: %w", t.Dir, err)
	}
	return nil
}

// nth finds which of the calls that had a task a call is, from 1; 0 = none of them.
func (k *Keeper) nth(id string) func(call string) int {
	return func(call string) int {
		n := 0
		for _, o := range k.older {
			if slices.Contains(o.Info.Jobs, id) {
				n++
			}
			if o.ID == call {
				return n
			}
		}
		return 0
	}
}

// makeRoom moves what an older call left in a task's folder away.
func makeRoom(dir, call string, nth func(call string) int) error {
	data, err := os.ReadFile(filepath.Join(dir, StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was Status
	if err == nil {
		err = json.Unmarshal(data, &was)
	}
	if err != nil || was.Call == call {
		return nil //nolint:nilerr // what nobody can read is written anew
	}
	if n := nth(was.Call); n > 0 {
		return archive(dir, n)
	}
	return nil // of a call that is gone
}
