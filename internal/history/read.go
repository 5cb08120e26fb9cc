package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"orchestrate/internal/ledger"
)

// longest is more than any line has; what is longer is none of ours.
const longest = 1 << 20

// Read counts what was found in a history.
type Read struct {
	Lines      int `json:"lines"`      // that have something in them
	Jobs       int `json:"jobs"`       // whose newest line counts
	Superseded int `json:"superseded"` // lines that a later one of the same job replaces
	Torn       int `json:"torn"`       // no line of a history: cut off, or something else
	Unknown    int `json:"unknown"`    // of a version that this program does not know
	Rehearsals int `json:"rehearsals"` // of the stand-in, which says nothing of an agent
}

// Scan calls each with the newest line of every job in the history of the workspace at
// root, in the file's order. The file is read twice and never held whole: first for
// which line of a job is the newest. With most > 0 only about its last most bytes are
// read. A history that is not there is empty.
func Scan(root string, most int64, each func(Line)) (Read, error) {
	name := Path(root)
	f, err := open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Read{}, nil
	}
	if err != nil {
		return Read{}, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return Read{}, err
	}
	from := int64(0)
	if most > 0 && info.Size() > most {
		from = info.Size() - most
	}
	read, err := scan(f, from, info.Size(), each)
	if err != nil {
		err = wrong(name, err)
	}
	return read, err
}

// scan reads what lies between two places of a history; more may be appended meanwhile.
func scan(f io.ReaderAt, from, to int64, each func(Line)) (read Read, err error) {
	type job struct{ run, id string }
	newest := map[job]int{}
	part := func() io.Reader { return io.NewSectionReader(f, from, to-from) }
	err = eachLine(part(), from > 0, func(n int, text []byte) {
		read.Lines++
		if l, ok := read.parse(text); ok {
			newest[job{l.RunID, l.JobID}] = n
		}
	})
	if err != nil {
		return read, err
	}
	read.Jobs = len(newest)
	read.Superseded = read.Lines - read.Torn - read.Unknown - read.Rehearsals - read.Jobs
	wanted := slices.Sorted(maps.Values(newest))
	var again Read // has counted them
	err = eachLine(part(), from > 0, func(n int, text []byte) {
		if len(wanted) == 0 || n != wanted[0] {
			return
		}
		wanted = wanted[1:]
		if l, ok := again.parse(text); ok {
			each(l)
		}
	})
	return read, err
}

// parse is one line; ok is false for what says nothing, which is counted.
func (r *Read) parse(text []byte) (l Line, ok bool) {
	switch {
	case len(text) > longest:
		r.Torn++
	case json.Unmarshal(text, &l) != nil || l.SchemaVersion != ledger.SchemaVersion:
		r.strange(text)
	case !l.whole():
		r.Torn++
	case l.Runtime == standin || l.Verdict == rehearsal:
		r.Rehearsals++
	default:
		return l, true
	}
	return l, false
}

// strange counts a line that is none of this program's version.
func (r *Read) strange(text []byte) {
	var version struct {
		SchemaVersion int `json:"schemaVersion"`
	}
	if json.Unmarshal(text, &version) == nil && version.SchemaVersion != ledger.SchemaVersion && version.SchemaVersion != 0 {
		r.Unknown++
		return
	}
	r.Torn++
}

// The words by which a line of a rehearsal is known. There is none in a history that only
// this program wrote.
const (
	standin   = "standin"
	rehearsal = "rehearsal"
)

// whole reports whether a line says what each has to.
func (l Line) whole() bool {
	return l.RunID != "" && l.JobID != "" &&
		l.Status.Settled() && l.DurationMs >= 0 && l.Attempts >= 1 && !l.At.IsZero()
}

// eachLine calls do with every line that has something in it, and its number. One that
// is too long comes as its beginning, which is longer than any may be. cut says that the
// reader begins in the middle of a line, which is left out.
func eachLine(from io.Reader, cut bool, do func(n int, text []byte)) error {
	in := bufio.NewReaderSize(from, longest+1)
	for n := 0; ; n++ {
		text, err := in.ReadSlice('\n')
		if !cut && len(bytes.TrimSpace(text)) > 0 {
			do(n, text)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of it
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		cut = false
	}
}
