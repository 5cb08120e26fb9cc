//go:build linux

package campaign

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"orchestrate/internal/sandbox"
)

// Graph is what a round runs.
type Graph string

// The graphs. Each has a retry, a job with children, and dependents.
const (
	Programs Graph = "programs" // plain programs, isolated writers among them, and no arbiter
	Standins Graph = "standins" // stand-ins for agents: a writer in the shared checkout, an arbiter
	Folder   Graph = "folder"   // plain programs in a folder that is no repository
)

// Graphs are all of them.
var Graphs = []Graph{Programs, Standins, Folder}

// jobs are the ids of a graph's jobs.
func (g Graph) jobs() []string {
	switch g {
	case Programs:
		return []string{"survey", "flaky", "family", "write", "review", "second", "last"}
	case Standins:
		return []string{"look", "flaky", "write", "review", "shared", "count"}
	default:
		return []string{"survey", "flaky", "family", "last"}
	}
}

const head = `version: 1
concurrency: 3
defaults: {timeout: 2m, expected_output: what it leaves}
`

const programs = head + `arbiter: {mode: checks-only}
jobs:
  - id: survey
    runtime: exec
    effect: observe
    command: [WORK, -for, 200ms, -leave, survey.txt=seen]
    outputs: [{path: survey.txt}]
  - id: flaky
    runtime: exec
    effect: observe
    retry: {max_attempts: 3, backoff: 50ms, on: [crash]}
    command: [WORK, -for, 50ms, -fail]
  - id: family
    runtime: exec
    effect: observe
    command: [WORK, -for, 300ms, -children, "2"]
`

const writers = `  - id: write
    runtime: exec
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt]
    inputs: [{from_job: survey, from_path: survey.txt}]
    command: [WORK, -for, 150ms, -write, made.txt=made]
    checks: [grep -q made made.txt]
  - id: review
    runtime: exec
    effect: observe
    depends_on: [write]
    command: [WORK, -for, 100ms, -read, made.txt=made]
  - id: second
    runtime: exec
    effect: scoped-write
    isolation: worktree
    owned_paths: [second.txt]
    depends_on: [write]
    command: [WORK, -for, 100ms, -read, made.txt=made, -write, second.txt=more]
`

const ending = `  - id: last
    runtime: exec
    effect: observe
    depends_on: [AFTER]
    command: [WORK, -for, 50ms, -leave, last.txt=over]
    outputs: [{path: last.txt}]
`

const standins = head + `arbiter: {runtime: standin}
jobs:
  - {id: look, runtime: standin, task: scout, prompt: look around}
  - {id: flaky, runtime: standin, task: scout, prompt: look around, retry: {max_attempts: 3, backoff: 50ms, on: [rate_limit]}}
  - id: write
    runtime: standin
    task: docs
    effect: scoped-write
    isolation: worktree
    owned_paths: [NOTES.md]
    depends_on: [look]
    prompt: write
    outputs: [{path: NOTES.md}]
    checks: [test -s NOTES.md]
  - {id: review, runtime: standin, task: review, prompt: review, depends_on: [write]}
  - {id: shared, runtime: standin, task: docs, effect: scoped-write, isolation: none, owned_paths: [notes/shared.txt], prompt: write, depends_on: [review]}
  - id: count
    runtime: exec
    effect: observe
    command: [WORK, -for, 300ms, -children, "1"]
`

// most is how many attempts the stand-in's script counts.
const most = 9

// script is what the stand-ins do.
func script(tally string) string {
	var b strings.Builder
	b.WriteString("version: 1\njobs:\n")
	for _, job := range append([]string{"arbiter"}, Standins.jobs()...) {
		if job == "count" {
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", job)
		count := func(what string) {
			for n := 1; n <= most; n++ {
				line := fmt.Sprintf(`{"job":"%s","attempt":%d,"what":"%s"}`, job, n, what)
				fmt.Fprintf(&b, "    - {attempt: %d, append: {path: %q, content: %q}}\n", n, tally, line+"\n")
			}
		}
		count(countStart)
		b.WriteString("    - sleep: 150ms\n")
		switch job {
		case "flaky":
			b.WriteString("    - {attempt: 1, error: {reason: rate_limit, text: slow down, retry_after: 50ms}}\n")
		case "write":
			b.WriteString("    - write: {path: NOTES.md, content: notes}\n")
		case "arbiter":
			b.WriteString("    - verdict: {overall: pass}\n")
		case "shared":
			// A line of its own in each attempt, or an attempt after one that was cut
			// off would have nothing left to change.
			for n := 1; n <= most; n++ {
				fmt.Fprintf(&b, "    - {attempt: %d, write: {path: notes/shared.txt, content: \"shared %d\\n\"}}\n", n, n)
			}
		}
		count(countEnd)
	}
	return b.String()
}

func (g Graph) spec(self, tally string) string {
	text := map[Graph]string{
		Programs: programs + writers + strings.Replace(ending, "AFTER", "review, second, flaky, family", 1),
		Standins: standins,
		Folder:   programs + strings.Replace(ending, "AFTER", "survey, flaky, family", 1),
	}[g]
	work := fmt.Sprintf("%s, work, -tally, %s", strconv.Quote(self), strconv.Quote(tally))
	return strings.ReplaceAll(text, "WORK", work)
}

// Workspace is where a round's runs work.
type Workspace struct {
	Dir     string   `json:"dir"`
	Spec    string   `json:"spec"` // relative to Dir
	Env     []string `json:"env"`  // all of the environment that runs get
	Jobs    []string `json:"jobs"`
	Tally   string   `json:"tally"`   // "" = nobody counts
	History bool     `json:"history"` // runs enter it
	Boxed   *bool    `json:"boxed"`   // all programs are, or none is; nil = some
}

// operator opens to jobs the folder in which they count themselves, or takes the
// engine's sandbox away.
func operator(counts string, free bool) string {
	if free {
		return "sandbox: {off: true}\n"
	}
	return fmt.Sprintf("sandbox: {writable: [%q]}\n", counts)
}

// furnish makes a graph's workspace in the folder base. self is the program that
// its jobs run, free whether they do so without the engine's sandbox.
func (g Graph) furnish(base, self string, free bool) (Workspace, error) {
	boxed := !free && sandbox.ABI() >= sandbox.MinABI
	counts := filepath.Join(base, "counts")
	w := Workspace{
		Dir: filepath.Join(base, "project"), Spec: "../jobs.yaml", Env: environment(base), Jobs: g.jobs(),
		Tally: filepath.Join(counts, "tally.jsonl"), History: g != Standins, Boxed: &boxed,
	}
	for _, dir := range []string{"project/notes", "home/.config/orchestrate", "tmp", "counts"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			return w, err
		}
	}
	// The spec names the tally, and what is committed must be the same in every round.
	files := map[string]string{
		w.Spec: g.spec(self, w.Tally), "../home/.config/orchestrate/config.yaml": operator(counts, free),
		"notes/shared.txt": "shared 0\n",
	}
	if g == Standins {
		files[w.Spec+".standin"] = script(w.Tally)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o600); err != nil {
			return w, err
		}
	}
	if g == Folder {
		return w, nil
	}
	return w, w.commit()
}

func (w Workspace) commit() error {
	for _, args := range []string{"init -q -b main", "add -A", "-c user.name=A -c user.email=a@example.invalid commit -q -m start"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = w.Dir, w.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args, err, out)
		}
	}
	return nil
}

// environment has nothing of whoever started the campaign, and dates that make the
// first commit the same in every round.
func environment(base string) []string {
	const date = "2026-01-01T00:00:00Z"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp"), "LANG=C.UTF-8",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
}
