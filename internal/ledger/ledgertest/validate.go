// Package ledgertest holds a run directory against the published schemas. It is
// for tests.
package ledgertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"orchestrate/docs/schemas"
	"orchestrate/internal/ledger"
)

// Schemas are the compiled schemas by the name before .schema.json.
type Schemas map[string]*jsonschema.Schema

// Load compiles every published schema.
func Load() (Schemas, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	files, err := fs.Glob(schemas.Files, "*.schema.json")
	if err != nil {
		return nil, err
	}
	const base = "file:///schemas/"
	for _, name := range files {
		data, err := schemas.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := c.AddResource(base+name, doc); err != nil {
			return nil, err
		}
	}
	all := Schemas{}
	for _, name := range files {
		s, err := c.Compile(base + name)
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(name, ".schema.json")] = s
	}
	return all, nil
}

// Check validates one JSON document against the schema of that name.
func (s Schemas) Check(name string, doc []byte) error {
	schema, ok := s[name]
	if !ok {
		return fmt.Errorf("no schema %s", name)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// ValidateRun holds every JSON file of a run directory, and the history file
// beside it, against its schema, and replays the journal. What agents own
// (worktrees, artifacts, inputs) is not looked at. A JSON file of a name that no
// schema is for is an error too, and so is a temporary file left behind.
func ValidateRun(dir string) []error {
	s, err := Load()
	if err != nil {
		return []error{err}
	}
	var bad []error
	if run, err := ledger.Open(dir); err != nil { // it replays the journal
		bad = append(bad, err)
	} else if err := run.Close(); err != nil {
		bad = append(bad, err)
	}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if agents(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		bad = append(bad, s.file(file)...)
		return nil
	})
	if err != nil {
		bad = append(bad, err)
	}
	history := filepath.Join(filepath.Dir(dir), ledger.HistoryFile)
	if _, err := os.Stat(history); !errors.Is(err, fs.ErrNotExist) {
		bad = append(bad, s.file(history)...)
	}
	return bad
}

func agents(dir string) bool {
	return dir == ledger.WorktreesDir || dir == ledger.ArtifactsDir || dir == ledger.InputsDir
}

// file validates one file if its name says that it is JSON.
func (s Schemas) file(name string) []error {
	base := filepath.Base(name)
	if base == ledger.AnswerSchemaFile { // it is a schema
		return nil
	}
	switch path.Ext(base) {
	case ".tmp":
		return []error{fmt.Errorf("%s was left behind", name)}
	case ".json", ".jsonl":
	default:
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return []error{err}
	}
	docs := [][]byte{data}
	if path.Ext(base) == ".jsonl" {
		docs = bytes.SplitAfter(data, []byte("\n"))
		docs = docs[:len(docs)-1] // what is behind the last newline is torn or nothing
	}
	var bad []error
	for i, doc := range docs {
		if err := s.Check(SchemaFor(name), doc); err != nil {
			bad = append(bad, fmt.Errorf("%s, document %d: %w", name, i+1, err))
		}
	}
	return bad
}

// SchemaFor names the schema for a file, by its name and folder alone.
func SchemaFor(file string) string {
	switch filepath.Base(filepath.Dir(file)) {
	case ledger.ChecksDir, ledger.SetupDir:
		return "check"
	}
	switch base := filepath.Base(file); base {
	case ledger.JournalFile:
		return "journal"
	case ledger.EventsFile:
		return "event"
	case ledger.HistoryFile:
		return "history"
	case ledger.IntentFile:
		return "integration"
	default:
		return strings.TrimSuffix(base, path.Ext(base))
	}
}

// Decode is a document as plain maps, lists and values, for tests that change it.
func Decode(doc []byte) (any, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	err := dec.Decode(&v)
	return v, err
}
