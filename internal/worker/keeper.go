package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
)

// Keeper keeps the folders of a call's tasks while the call goes on. What it misses,
// because it died, Project does.
type Keeper struct {
	run     Run
	call    Call
	stands  map[string]*progress
	lineage lineages
}

// Keeper is for the process that carries a call on.
func (r Run) Keeper(callDir string) (*Keeper, error) {
	n := numberOf(filepath.Base(callDir))
	if n == 0 {
		return nil, fmt.Errorf("%s is no call of worker run %s", callDir, r.ID)
	}
	c := Call{N: n, ID: idOf(callDir), Dir: callDir, Live: true}
	return &Keeper{run: r, call: c, stands: map[string]*progress{}, lineage: lineages{dir: callDir}}, nil
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
	t, err := k.run.taskOf(k.call, rec.Job, p, &k.lineage)
	if err != nil || p.state == ledger.Skipped {
		return err
	}
	if t.settled() {
		delete(k.stands, rec.Job) // a later attempt begins anew; nothing is held for it
	}
	return k.keep(t)
}

// keep lays a task's folder, after what an older call left in it is out of the way.
func (k *Keeper) keep(t Task) error {
	later := false
	err := t.in("", func(dir *os.Root) (err error) {
		if later, err = makeRoom(dir, k.call); later || err != nil {
			return err
		}
		return t.lay(dir)
	})
	if later && err == nil {
		err = t.in(t.aside(), t.lay)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Dir, err)
	}
	return nil
}

// makeRoom moves what an older call left in a task's folder away. later is true where it is
// a later call's, which stays.
func makeRoom(dir *os.Root, c Call) (later bool, err error) {
	data, err := readPlain(dir, StatusFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var was Status
	if err == nil {
		err = json.Unmarshal(data, &was)
	}
	n := numberOf(was.Call)
	if err != nil || n == 0 || n == c.N {
		return false, nil //nolint:nilerr // what nobody can read is written anew
	}
	if n > c.N {
		return true, nil
	}
	return false, archive(dir, n)
}
