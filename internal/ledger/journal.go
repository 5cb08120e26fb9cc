package ledger

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"orchestrate/internal/failpoint"
)

// noteBound is how many bytes of notes may wait before they are written.
const noteBound = 64 << 10

// journal is the append-only file. Lines are queued in order by push; commit
// makes them durable. Callers that commit at the same time share one write and
// one fdatasync: the first of them does it for all that is queued by then, the
// others wait for it. After an I/O error nothing is written any more, because
// what the file then holds is not known.
type journal struct {
	file *os.File

	mu      sync.Mutex
	turn    sync.Cond // a write has ended
	queue   bytes.Buffer
	spare   bytes.Buffer
	last    int64 // seq of the last line queued
	durable int64 // seq of the last line known to be on the disk
	writing bool
	err     error
}

// newJournal goes on with a file whose records up to seq are durable.
func newJournal(f *os.File, seq int64) *journal {
	j := &journal{file: f, last: seq, durable: seq}
	j.turn.L = &j.mu
	return j
}

// push queues one line, which ends in a newline, and says whether so much is
// waiting that it should be flushed.
func (j *journal) push(line []byte, seq int64) (full bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue.Write(line)
	j.last = seq
	return j.queue.Len() > noteBound
}

// commit returns when every line up to seq is durable.
func (j *journal) commit(seq int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.err == nil && j.durable < seq {
		if j.writing {
			j.turn.Wait()
			continue
		}
		j.write(true)
	}
	return j.err
}

// flush hands what is queued to the operating system, without waiting for the disk.
func (j *journal) flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.turn.Wait()
	}
	if j.err == nil && j.queue.Len() > 0 {
		j.write(false)
	}
	return j.err
}

// write is called with the lock held and gives it away while it works.
func (j *journal) write(durably bool) {
	j.writing = true
	j.queue, j.spare = j.spare, j.queue
	upTo := j.last
	j.mu.Unlock()
	failpoint.Hit(failpoint.JournalBefore)
	err := writeLines(j.file, j.spare.Bytes())
	failpoint.Hit(failpoint.JournalWritten)
	if err == nil && durably {
		err = syncData(j.file)
		failpoint.Hit(failpoint.JournalSynced)
	}
	j.mu.Lock()
	j.writing = false
	j.spare.Reset()
	if err != nil {
		j.err = fmt.Errorf("the journal cannot be written, so the run cannot go on: %w", err)
	} else if durably {
		j.durable = upTo
	}
	j.turn.Broadcast()
}

// writeLines is one write, except for a test that wants a torn one.
func writeLines(f *os.File, lines []byte) error {
	if failpoint.Enabled {
		half := len(lines) / 2
		if _, err := f.Write(lines[:half]); err != nil {
			return err
		}
		failpoint.Hit(failpoint.JournalTorn)
		lines = lines[half:]
	}
	_, err := f.Write(lines)
	return err
}
