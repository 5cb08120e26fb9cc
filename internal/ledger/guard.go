package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Redactor takes secrets out of what goes to disk; *secret.Redactor is one.
type Redactor interface {
	Bytes(text []byte) []byte
	JSON(doc []byte) []byte // what was JSON stays JSON
	// Writer is Bytes for a text that is written in parts, the last of it when it is closed.
	Writer(to io.Writer) io.WriteCloser
}

// Guard has every record, document and text redacted from now on, before it is
// written and before anybody is told of it. It is the last line: who writes
// redacts already what can hold a secret.
func (r *Run) Guard(red Redactor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guard = red
}

// clean redacts what goes into a file.
func (r *Run) clean(rel string, data []byte) []byte {
	guard := r.guarding()
	switch {
	case guard == nil:
		return data
	case strings.HasSuffix(rel, ".json"):
		return guard.JSON(data)
	}
	return guard.Bytes(data)
}

func (r *Run) guarding() Redactor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.guard
}

// through has a text redacted on its way to a file.
func (r *Run) through(w io.Writer, write func(io.Writer) error) error {
	guard := r.guarding()
	if guard == nil {
		return write(w)
	}
	clean := guard.Writer(w)
	return errors.Join(write(clean), clean.Close())
}

// cleanRecord redacts a record whose line is in r.line.
func (r *Run) cleanRecord(rec *Record) error {
	if r.guard == nil {
		return nil
	}
	line := r.guard.JSON(r.line.Bytes())
	if bytes.Equal(line, r.line.Bytes()) {
		return nil
	}
	var clean Record
	if err := json.Unmarshal(line, &clean); err != nil {
		return err
	}
	*rec = clean
	r.line.Reset()
	r.line.Write(line)
	return nil
}
