package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrate/internal/process"
)

// ErrReadOnly is returned by everything that would change a run that was opened
// for reading.
var ErrReadOnly = errors.New("this run was opened for reading only")

// Run is one run directory. The one made by Create or Reopen owns the run: it alone
// writes the journal, and all its methods may be called from any goroutine. One made
// by Open only reads.
type Run struct {
	Dir string // absolute
	ID  string // what a RUN argument may say instead of the path

	root    *os.Root // every path goes through it, so that no link planted by an agent leads out
	lock    *os.File // nil when opened for reading
	journal *journal
	snap    *snapshotter
	temp    atomic.Int64 // for names of temporary files

	patience time.Duration // how long a lock is waited for whose owner has ended
	notes    []string      // see Notes

	mu        sync.Mutex // order of records; guards what follows
	guard     Redactor   // nil = nothing is redacted
	fold      folder
	line      bytes.Buffer
	encoder   *json.Encoder // into line
	followers []func(Record)
	closed    bool
	closing   sync.Once
}

// Open opens an existing run directory for reading, whether or not its run is
// still going on. State is that of this moment.
func Open(dir string) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := replayFile(filepath.Join(abs, JournalFile), nil)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &Run{Dir: abs, ID: idOf(abs), root: root, fold: f, closed: true}, nil
}

// idOf is the run id of a run directory.
func idOf(dir string) string { return strings.TrimPrefix(filepath.Base(dir), runPrefix) }

// JobDir is the absolute path of a job's directory.
func (r *Run) JobDir(id string) string { return r.Path(id) }

// Path is the absolute path of something in the run directory.
func (r *Run) Path(rel ...string) string {
	return filepath.Join(r.Dir, filepath.FromSlash(strings.Join(rel, "/")))
}

// State is a copy of what the records so far say.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fold.state.clone()
}

// Follow calls f with every record from now on, in order and one at a time, from
// inside Append and Note. f must be quick and must not call the Run.
func (r *Run) Follow(f func(Record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers = append(r.followers, f)
}

// Append adds records and returns when they, and all before them, are durable.
// An error other than ErrReadOnly means either that a record could not have
// happened in this state (it and those behind it are left out), or that the disk
// failed, after which the run cannot go on.
func (r *Run) Append(recs ...Record) error {
	seq, _, err := r.add(recs)
	if err != nil {
		return err
	}
	return r.journal.commit(seq)
}

// Note adds records in order without waiting for the disk. They are durable when
// the next Append or Close returns, and readable by others within the snapshot's
// interval.
func (r *Run) Note(recs ...Record) error {
	_, full, err := r.add(recs)
	if err != nil || !full {
		return err
	}
	return r.journal.flush()
}

// add numbers, folds and queues the records; seq is that of the last one queued
// by anybody.
func (r *Run) add(recs []Record) (seq int64, full bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, false, ErrReadOnly
	}
	for i := range recs {
		if full, err = r.addOne(&recs[i]); err != nil {
			return 0, false, fmt.Errorf("journal: %w", err)
		}
	}
	r.snap.wake()
	return r.fold.state.Seq, full, nil
}

func (r *Run) addOne(rec *Record) (full bool, err error) {
	rec.SchemaVersion, rec.Seq = SchemaVersion, r.fold.state.Seq+1
	if rec.At.IsZero() {
		rec.At = time.Now()
	}
	rec.At = rec.At.UTC().Round(0)
	r.line.Reset()
	if err := r.encoder.Encode(rec); err != nil {
		return false, err
	}
	if err := r.cleanRecord(rec); err != nil {
		return false, err
	}
	if err := r.fold.apply(*rec); err != nil {
		return false, err
	}
	full = r.journal.push(r.line.Bytes(), rec.Seq)
	for _, f := range r.followers {
		f(*rec)
	}
	return full, nil
}

// Close makes everything durable, writes the exact snapshot and gives up the
// run's lock. It says what could not be written. Closing twice is harmless; the
// second returns when the first is through.
func (r *Run) Close() (err error) {
	r.closing.Do(func() { err = r.close() })
	return err
}

func (r *Run) close() error {
	if r.lock == nil {
		return r.root.Close()
	}
	r.mu.Lock()
	r.closed = true
	seq := r.fold.state.Seq
	r.mu.Unlock()
	r.snap.stop()
	err := r.journal.commit(seq)
	if err == nil {
		err = r.writeSnapshot()
	}
	return errors.Join(err, r.journal.file.Close(), r.root.Close(), writeOwner(r.lock, process.Identity{}), r.lock.Close())
}

// RunID is the id of the run with this directory.
func RunID(dir string) string { return idOf(dir) }
