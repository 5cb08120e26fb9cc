package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
)

// Tail reads the records of a run that another process carries on, as they come. It
// only ever looks at what is new.
type Tail struct {
	file *os.File
	at   int64 // where the next record begins
	buf  []byte
}

// OpenTail starts at the first record of a run directory.
func OpenTail(dir string) (*Tail, error) {
	f, err := os.Open(filepath.Join(dir, ledger.JournalFile))
	if err != nil {
		return nil, err
	}
	return &Tail{file: f, buf: make([]byte, 64<<10)}, nil
}

// Close ends it.
func (t *Tail) Close() error { return t.file.Close() }

// Next calls each with the records that have come since, in order. A last line
// without its end is being written, or was when its writer died: it is looked at
// again the next time.
func (t *Tail) Next(each func(ledger.Record)) error {
	for {
		n, err := t.file.ReadAt(t.buf, t.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end := bytes.LastIndexByte(t.buf[:n], '\n') + 1
		switch {
		case end == 0 && n == len(t.buf):
			t.buf = make([]byte, 2*len(t.buf)) // a long line
			continue
		case end == 0:
			return nil
		}
		for line := range bytes.Lines(t.buf[:end]) {
			var r ledger.Record
			if err := json.Unmarshal(line, &r); err != nil {
				return fmt.Errorf("%s, byte %d: %w", t.file.Name(), t.at, err)
			}
			t.at += int64(len(line))
			each(r)
		}
	}
}
