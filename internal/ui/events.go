package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// Events reads what the running attempts of a run say, as it comes. It only ever looks
// at what is new.
type Events struct {
	root *os.Root
	open map[string]*saying
	buf  []byte
}

// saying is the log of one attempt.
type saying struct {
	attempt int
	file    *os.File
	at      int64 // where the next event begins
}

// OpenEvents reads below a run directory.
func OpenEvents(dir string) (*Events, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Events{root: root, open: map[string]*saying{}, buf: make([]byte, 64<<10)}, nil
}

// Close ends it.
func (e *Events) Close() error {
	err := e.root.Close()
	for _, s := range e.open {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// Next calls each with what these attempts have said since; of others no more is read.
// A log that cannot be read says nothing: the ledger tells how its attempt ended.
func (e *Events) Next(running []Attempt, each func(job string, attempt int, ev runtime.Event)) {
	now := make(map[string]int, len(running))
	for _, a := range running {
		now[a.Job] = a.N
		if s := e.log(a); s != nil {
			e.read(s, func(ev runtime.Event) { each(a.Job, a.N, ev) })
		}
	}
	for job, s := range e.open {
		if now[job] != s.attempt {
			_ = s.file.Close() // it was only read
			delete(e.open, job)
		}
	}
}

// log is the open log of an attempt that runs, nil while it has none.
func (e *Events) log(a Attempt) *saying {
	s, ok := e.open[a.Job]
	if ok && s.attempt == a.N {
		return s
	}
	f, err := e.root.OpenFile(ledger.JobPath(a.Job, ledger.EventsFile), os.O_RDONLY, fs.FileMode(0))
	if err != nil {
		return nil
	}
	if ok {
		_ = s.file.Close() // it was only read
	}
	s = &saying{attempt: a.N, file: f}
	e.open[a.Job] = s
	return s
}

// lookBytes bounds what is read of one log in one look, so that a loud one does not hold
// up the others; the rest comes with the next look.
const lookBytes = 1 << 20

func (e *Events) read(s *saying, each func(runtime.Event)) {
	for read := 0; read < lookBytes; {
		n, err := s.file.ReadAt(e.buf, s.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return
		}
		end := bytes.LastIndexByte(e.buf[:n], '\n') + 1
		switch {
		case end == 0 && n == len(e.buf):
			e.buf = make([]byte, 2*len(e.buf)) // a long line
			continue
		case end == 0:
			return
		}
		for line := range bytes.Lines(e.buf[:end]) {
			var ev runtime.Event
			if json.Unmarshal(line, &ev) == nil {
				each(ev)
			}
		}
		s.at += int64(end)
		read += end
	}
}
