package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// refuse says what is wrong with a spec: to a person on standard error, or as one
// JSON document on standard output.
func refuse(sys System, diags []spec.Diagnostic, asJSON bool) error {
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
