package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// diagnosis is what is wrong with a spec, for programs.
type diagnosis struct {
	SchemaVersion int          `json:"schemaVersion"`
	Diagnostics   []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Col     int    `json:"col"`  // from 1, in characters
	Field   string `json:"field"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// perhapsRequest says of a spec that is not there, and whose name is words, that a request
// is given in another way; "" = it is there, or one word.
func perhapsRequest(cwd, file string) string {
	name := strings.TrimPrefix(file, cwd+string(filepath.Separator))
	if _, err := os.Stat(file); err == nil || len(strings.Fields(name)) < 2 {
		return ""
	}
	if looksLikeSpec(name) {
		return "; it ends in " + filepath.Ext(name) + ", so it was taken for the name of a spec: end a request in another way (a full stop is enough)"
	}
	return "; the name of a spec belongs here: a request in words goes without a command before it, `orchestrate \"a request\"`"
}

// refuse says what is wrong with a spec: to a person on standard error, or as one
// JSON document on standard output.
func refuse(sys System, diags []spec.Diagnostic, asJSON bool) error {
	if diags[0].Rule == "read" {
		diags[0].Message += perhapsRequest(sys.Cwd, diags[0].Pos.File)
	}
	if asJSON {
		doc := diagnosis{SchemaVersion: ledger.SchemaVersion}
		for _, d := range diags {
			doc.Diagnostics = append(doc.Diagnostics, diagnostic{d.Pos.File, d.Pos.Line, d.Pos.Col, d.Field, d.Rule, d.Message})
		}
		if err := json.NewEncoder(sys.Out).Encode(doc); err != nil {
			return failure(err)
		}
		return exit(exitUsage)
	}
	source, err := os.ReadFile(diags[0].Pos.File)
	if err != nil {
		source = nil // the diagnostics say what they can without the text
	}
	fmt.Fprint(sys.Err, spec.Format(diags, source))
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(sys.Err, "next: name a spec that is there, or write a first one with `orchestrate init`")
	}
	return exit(exitUsage)
}
