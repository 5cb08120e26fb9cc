package check

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// Rules that a declared output can break.
const (
	OutputMissing = "missing" // not there, not a file, empty, or outside its folder
	OutputHash    = "hash"    // not the content that the spec asks for
)

// Problem is one declared output that is not as declared.
type Problem struct {
	Path   string // as declared
	Rule   string // OutputMissing or OutputHash
	Detail string // what was found, for a person
}

// Outputs looks for the declared outputs in the folder that open opens, the job's
// cwd or its artifacts folder, and digests those that are there. A symbolic link
// that leads out of it is not followed. source goes into the artifacts: tree,
// artifacts or answer.
func Outputs(declared []spec.Output, open func() (*os.Root, error), source string) ([]ledger.Artifact, []Problem) {
	if len(declared) == 0 {
		return nil, nil
	}
	root, err := open()
	if err != nil {
		return nil, allMissing(declared, err)
	}
	defer root.Close() //nolint:errcheck // opened for reading only
	var found []ledger.Artifact
	var problems []Problem
	for _, o := range declared {
		a, err := digest(root, o.Path)
		switch {
		case err != nil:
			problems = append(problems, Problem{o.Path, OutputMissing, why(err)})
			continue
		case a.Bytes == 0:
			problems = append(problems, Problem{o.Path, OutputMissing, "it is empty"})
		case o.SHA256 != "" && !strings.EqualFold(o.SHA256, a.SHA256):
			problems = append(problems, Problem{o.Path, OutputHash, fmt.Sprintf("its sha256 is %s, declared is %s", a.SHA256, o.SHA256)})
		}
		a.Source = source
		found = append(found, a)
	}
	return found, problems
}

func allMissing(declared []spec.Output, err error) []Problem {
	problems := make([]Problem, len(declared))
	for i, o := range declared {
		problems[i] = Problem{o.Path, OutputMissing, why(err)}
	}
	return problems
}

// errNotFile says that an output is a folder, a pipe or a device, none of which
// is opened.
var errNotFile = errors.New("it is not a regular file")

// digest reads one file below root.
func digest(root *os.Root, name string) (a ledger.Artifact, err error) {
	local := filepath.FromSlash(name)
	info, err := root.Stat(local)
	if err != nil {
		return a, err
	}
	if !info.Mode().IsRegular() {
		return a, errNotFile
	}
	f, err := root.Open(local)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return ledger.Artifact{Path: name, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, err
}

// why says in a few words what is wrong with an output.
func why(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}
