package worker

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// Names below a worker run.
const (
	specsDir   = "specs"         // a folder per call: what it was made from
	promptsDir = "prompts"       // in it, a file per task
	callFile   = ledger.CallFile // in it, who made it of what
)

// Prepared is a call that is written down and can be run.
type Prepared struct {
	N    int    // of its folder; the run of the call has a number of its own
	Dir  string // absolute
	Spec string // absolute path of the spec
}

// Discard removes it again: nobody is going to run it.
func (p Prepared) Discard() error { return os.RemoveAll(p.Dir) }

// order is call.json.
type order struct {
	SchemaVersion int      `json:"schemaVersion"`
	N             int      `json:"n"`
	By            string   `json:"by"`       // the command: batch or dispatch
	Manifest      string   `json:"manifest"` // as it was named; - = standard input
	Digest        string   `json:"digest"`   // SHA-256 of what the tasks are, hex
	Tasks         []string `json:"tasks"`    // ids in the manifest
	Command       string   `json:"command"`  // that does it once more, from the workspace root
	After         int      `json:"after"`    // newest call that was known when it was made; 0 = none
}

// document is the spec of a call.
type document struct {
	Version     int       `json:"version"`
	Concurrency int       `json:"concurrency"`
	Roots       []string  `json:"workspace_roots"`
	Arbiter     judgement `json:"arbiter"`
	Defaults    usual     `json:"defaults"`
}

type judgement struct {
	Mode string `json:"mode"`
}

// usual is what all jobs of a call have in common.
type usual struct {
	Expected string   `json:"expected_output"`
	Retry    retrying `json:"retry"`
}

type retrying struct {
	MaxAttempts int      `json:"max_attempts"`
	Backoff     string   `json:"backoff"`
	On          []string `json:"on"`
}

// Write makes the folder of a call: its spec, with the prompts in files so that they arrive
// as they are. With any diagnostic, which is about the manifest, nothing is left of it; nor
// with a BusyError, which says that somebody is at work with one of its tasks.
func (m *Manifest) Write() (p Prepared, diags []spec.Diagnostic, err error) {
	doc, err := m.document()
	if err != nil {
		return p, nil, err
	}
	if diags := m.searched(doc); len(diags) > 0 {
		return p, diags, nil
	}
	calls, err := m.look()
	if err != nil {
		return p, nil, err
	}
	if p, err = m.folder(); err != nil {
		return p, nil, fmt.Errorf("the call cannot be written down: %w", err)
	}
	err = m.fill(p, doc)
	if err == nil {
		diags, err = m.checked(p, calls)
	}
	if err != nil || len(diags) > 0 {
		return Prepared{}, diags, errors.Join(err, p.Discard())
	}
	return p, nil, nil
}

// document is the spec, with a line for each job.
func (m *Manifest) document() ([]byte, error) {
	head, err := line(document{
		Version: 1, Concurrency: cmp.Or(m.opts.MaxParallel, defaultParallel), Roots: m.roots(), Arbiter: judgement{"checks-only"},
		Defaults: usual{Expected: "What the prompt asks for.", Retry: retrying{MaxAttempts: 3, Backoff: "5s", On: []string{"rate_limit", "network"}}},
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(head[:len(head)-1]) // without the brace
	b.WriteString(`,"jobs":[`)
	for i, j := range m.jobs {
		text, err := line(j)
		if err != nil {
			return nil, err
		}
		b.WriteString(map[bool]string{true: "\n", false: ",\n"}[i == 0])
		b.Write(text)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// line is v as JSON in one line, without a line break.
func line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// searched finds secrets in what the flags of the call said: the manifest and the files that
// it names were searched when they were read.
func (m *Manifest) searched(doc []byte) (diags []spec.Diagnostic) {
	if m.opts.Secrets == nil {
		return nil
	}
	for _, s := range m.opts.Secrets(string(doc) + strings.Join(m.opts.Given, "\n")) {
		diags = append(diags, spec.Diagnostic{Rule: "secret", Message: "of the flags of this call, or what they make of a task: " + refused(s)})
		diags[len(diags)-1].Pos, _ = m.form.Place()
	}
	return diags
}

// folder makes the first free one.
func (m *Manifest) folder() (p Prepared, err error) {
	specs := filepath.Join(m.Run.Dir, specsDir)
	if err := os.MkdirAll(specs, dirMode); err != nil {
		return p, err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(specs, strconv.Itoa(n))
		err := os.Mkdir(dir, dirMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return Prepared{N: n, Dir: dir, Spec: filepath.Join(dir, ledger.SpecFile)}, err
	}
}

// fill writes what belongs into the folder of a call, the spec last.
func (m *Manifest) fill(p Prepared, doc []byte) error {
	if err := os.Mkdir(filepath.Join(p.Dir, promptsDir), dirMode); err != nil {
		return err
	}
	for _, j := range m.jobs {
		if j.PromptFile == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(p.Dir, filepath.FromSlash(j.PromptFile)), []byte(j.prompt), fileMode); err != nil {
			return err
		}
	}
	o := order{SchemaVersion: schemaVersion, N: p.N, By: m.opts.By, Manifest: m.Name, Digest: m.digest(), Tasks: m.IDs(), Command: m.command(p), After: m.after}
	return errors.Join(writeJSON(filepath.Join(p.Dir, callFile), o), writeWhole(p.Spec, doc))
}

// digest tells manifests apart by what their tasks are. From which folder the command was
// called is no part of that.
func (m *Manifest) digest() string {
	h := sha256.New()
	for _, j := range m.jobs {
		if j.here {
			j.Cwd = ""
		}
		text, err := line(j)
		if err != nil {
			panic("a job that was written down: " + err.Error())
		}
		fmt.Fprintf(h, "%d %d\n%s\n%s\n", len(text), len(j.prompt), text, j.prompt)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// look reads the calls that there are. What is decided about the manifest is decided by the
// first look at them.
func (m *Manifest) look() ([]Call, error) {
	calls, err := m.Run.Calls()
	if err == nil && !m.looked {
		m.looked, m.after = true, newestCall(calls)
	}
	return calls, err
}

// checked reads the spec as the engine will, and holds that nobody else is at work with its
// tasks. That is only said early: Claim is what makes sure.
func (m *Manifest) checked(p Prepared, calls []Call) ([]spec.Diagnostic, error) {
	s, diags := spec.Load(p.Spec, spec.Options{Cwd: m.opts.Cwd, WorkspaceRoot: m.Run.Root, Worker: true})
	if len(diags) > 0 {
		return m.place(diags), nil
	}
	var ids []string
	for i := range s.Jobs {
		ids = append(ids, s.Jobs[i].ID)
	}
	if diags := m.speltOtherwise(calls, ids); len(diags) > 0 {
		return diags, nil
	}
	return nil, busy(calls, ids, newestCall(calls))
}
