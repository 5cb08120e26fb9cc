package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CorruptError says that a journal cannot be believed.
type CorruptError struct {
	Path string
	Line int // from 1
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s line %d: %v; the journal was damaged or changed after it was written, so this run "+
		"cannot be read from it: keep the directory as evidence and start a new run from its %s",
		e.Path, e.Line, e.Err, SpecFile)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// replayFile reads the journal of a run directory, of a live run too, and calls visit,
// unless it is nil, with every record. A last line without its newline was being
// written when the writer died, or is being written now, and does not count. Anything
// else that is not a sound record in its place is a CorruptError.
func replayFile(path string, visit func(Record, State) error) (folder, error) {
	file, err := os.Open(path)
	if err != nil {
		return folder{}, notARun(path, err)
	}
	defer file.Close() // only read
	var f folder
	_, err = f.replay(path, file, visit)
	return f, err
}

func notARun(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is no run directory: it has no %s", filepath.Dir(path), JournalFile)
	}
	return err
}

// replay folds a journal and counts the bytes of its whole lines. What visit is shown of
// the state it must not keep.
func (f *folder) replay(path string, from io.Reader, visit func(Record, State) error) (whole int64, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	var long []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			line, err = in.ReadSlice('\n')
		}
		if len(long) > 0 {
			line, long = append(long, line...), nil
		}
		if errors.Is(err, io.EOF) {
			return whole, nil // line is torn, or empty
		}
		if err != nil {
			return whole, fmt.Errorf("%s line %d: %w", path, n, err)
		}
		rec, err := parse(line)
		if err == nil {
			err = f.apply(rec)
		}
		if err != nil {
			return whole, &CorruptError{Path: path, Line: n, Err: err}
		}
		whole += int64(len(line))
		if visit == nil {
			continue
		}
		if err := visit(rec, f.state); err != nil {
			return whole, err
		}
	}
}

func parse(line []byte) (Record, error) {
	var rec Record
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rec); err != nil {
		return rec, err
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return rec, errors.New("more than one record on the line")
	}
	return rec, nil
}
