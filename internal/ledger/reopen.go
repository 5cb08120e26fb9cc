package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/process"
)

// ErrNotBegun says that a run was cut off before its first record: nothing of it was
// started.
var ErrNotBegun = errors.New("the run was cut off before its first record, so nothing was started: run the spec again")

// MovedError says that a run directory is not where its run was started.
type MovedError struct {
	Dir, Was string
	Copied   bool // the one in the old place is there too
}

func (e *MovedError) Error() string {
	if e.Copied {
		return fmt.Sprintf("%s is a copy: the run belongs to %s, with its worktrees, branches and processes; go on with that one", e.Dir, e.Was)
	}
	return fmt.Sprintf("%s has been moved: the run was started in %s, and its worktrees, branches and processes belong there; "+
		"move it back to go on with it", e.Dir, e.Was)
}

// Reopen makes this process the owner of a run that another one began, and calls
// visit with every record so far. It holds the journal against all other files: what
// they know and it does not is a LossError. What a dead owner left half done is
// finished or taken away, but no record is written. OwnedError while another engine
// carries the run on, MovedError in another place than the run was started in,
// CorruptError when the journal cannot be read.
func Reopen(dir string, visit func(Record) error) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: abs, ID: idOf(abs), root: root, patience: patience}
	journal, err := r.reopen(visit)
	if err != nil {
		err = errors.Join(err, root.Close())
		if r.lock != nil {
			err = errors.Join(err, r.lock.Close())
		}
		return nil, err
	}
	r.run(journal)
	return r, nil
}

// Notes say, for a person, what Reopen found amiss and mended.
func (r *Run) Notes() []string { return r.notes }

func (r *Run) reopen(visit func(Record) error) (*os.File, error) {
	journal, err := r.root.OpenFile(JournalFile, os.O_RDWR|os.O_APPEND, fileMode)
	if err != nil {
		return nil, r.noJournal(err)
	}
	if err := r.reopenWith(journal, visit); err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return journal, nil
}

func (r *Run) reopenWith(journal *os.File, visit func(Record) error) error {
	if err := r.takeOver(); err != nil {
		return err
	}
	dirs, err := r.replayProven(journal, visit)
	if err != nil {
		return err
	}
	if err := r.mend(dirs); err != nil {
		return r.unwritable(err)
	}
	if err := writeOwner(r.lock, process.Self()); err != nil {
		return r.unwritable(err)
	}
	return nil
}

func (r *Run) noJournal(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notARun(r.Path(JournalFile), err)
	}
	return r.unwritable(err)
}

// unwritable says what a person can do about a run directory that cannot be written.
func (r *Run) unwritable(err error) error {
	return fmt.Errorf("the run in %s cannot be taken over, because its directory cannot be written: %w; mend that and resume it again", r.Dir, err)
}

// takeOver takes the run's lock. What the kernel says counts: the owner that is named
// in it may have given the run up and live on.
func (r *Run) takeOver() error {
	f, err := r.root.OpenFile(RunLockFile, os.O_RDWR|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return r.unwritable(err)
	}
	var holder process.Identity
	ok, err := lockPatiently(f, r.patience, func() bool {
		engine, named, err := Holder(r.Dir)
		if err != nil || !named || engine.Fate() == process.Gone {
			return err == nil
		}
		holder = engine
		return false
	})
	if err == nil && !ok {
		err = &OwnedError{Dir: r.Dir, Holder: holder}
	}
	if err == nil {
		err = cutTorn(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.lock = f
	return nil
}

// replayProven replays the journal, proves it and only then cuts off a torn line. dirs
// is what the jobs' directories have.
func (r *Run) replayProven(journal *os.File, visit func(Record) error) (dirs map[string]found, err error) {
	p := newProof(r)
	var f folder
	whole, err := f.replay(r.Path(JournalFile), journal, func(rec Record, s State) error {
		p.see(rec, s)
		if visit == nil {
			return nil
		}
		return visit(rec)
	})
	if err != nil {
		return nil, err
	}
	if err := r.settle(p.place); err != nil {
		return nil, err
	}
	if err := p.compare(f); err != nil {
		return nil, err
	}
	if f.state.Seq == 0 {
		return nil, ErrNotBegun
	}
	info, err := journal.Stat()
	if err == nil && info.Size() > whole {
		r.notes = append(r.notes, fmt.Sprintf("%s ended in %d bytes of a record that was being written when the engine died; they were cut off",
			JournalFile, info.Size()-whole))
		err = journal.Truncate(whole)
	}
	r.fold = f
	// What the dead owner had written and not synced will be acted on from here.
	return p.found, errors.Join(err, journal.Sync())
}

// settle holds this directory against the one that the run was started in, "" if an
// older program did not say.
func (r *Run) settle(was string) error {
	if was == "" {
		return nil
	}
	here, err := r.root.Stat(".")
	if err != nil {
		return err
	}
	if there, err := os.Stat(was); err == nil && os.SameFile(here, there) {
		r.Dir = was // perhaps by a link: paths stay as they were
		return nil
	}
	_, err = os.Stat(filepath.Join(was, JournalFile))
	return &MovedError{Dir: r.Dir, Was: was, Copied: err == nil}
}

// mend takes away the temporary files of the dead owner and finishes what it began to
// move.
func (r *Run) mend(dirs map[string]found) error {
	names, err := r.list(".")
	if err == nil {
		err = r.sweep(".", names)
	}
	if err != nil {
		return err
	}
	for job, saw := range dirs {
		if err := r.mendJob(job, saw); err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
	}
	return nil
}

func (r *Run) mendJob(job string, saw found) error {
	if err := r.sweep(job, saw.names); err != nil {
		return err
	}
	for _, dir := range []string{ChecksDir, SetupDir} {
		if !slices.Contains(saw.names, dir) {
			continue
		}
		commands := filepath.Join(job, dir)
		names, err := r.list(commands)
		if err == nil {
			err = r.sweep(commands, names)
		}
		if err != nil {
			return err
		}
	}
	return r.finishRetiring(job, saw.attempt)
}

func (r *Run) sweep(dir string, names []string) (err error) {
	for _, name := range names {
		if isTemp(name) {
			err = errors.Join(err, r.root.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// finishRetiring moves what is left of an attempt, unless it is the newest one.
func (r *Run) finishRetiring(job string, attempt int) error {
	j, err := r.fold.job(Record{Job: job})
	if err != nil || attempt == 0 || attempt >= j.Attempt {
		return nil // not a job's directory, or one that stays
	}
	err = r.retire(job, attempt)
	if errors.Is(err, ErrHeld) {
		r.notes = append(r.notes, fmt.Sprintf("job %s: attempt %d has ended, but somebody still holds its lock", job, attempt))
		return nil
	}
	return err
}
