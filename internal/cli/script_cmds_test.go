//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"orchestrate/internal/ledger/ledgertest"
	"orchestrate/internal/secret/secrettest"
)

// need ends a script that calls a command with the wrong number of arguments.
func need(ts *testscript.TestScript, args []string, least, most int, usage string) {
	if len(args) < least || len(args) > most {
		ts.Fatalf("usage: %s", usage)
	}
}

// agent puts a fake coding agent first on PATH: `agent claude [SCENARIO]`. The
// scenario is a file of $WORK, and in it $WORK stands for that folder.
func agent(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 2, "agent NAME [SCENARIO]")
	dir := filepath.Join(ts.Getenv("WORK"), ".agents", args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	program := filepath.Join(dir, args[0])
	if _, err := os.Lstat(program); err != nil {
		self, err := os.Executable()
		ts.Check(err)
		if os.Link(self, program) != nil {
			ts.Check(os.Symlink(self, program))
		}
		ts.Setenv("PATH", dir+string(filepath.ListSeparator)+ts.Getenv("PATH"))
	}
	scenario := ""
	if len(args) == 2 {
		scenario = strings.ReplaceAll(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[1])), "$WORK", ts.Getenv("WORK"))
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "fakecli.yaml"), []byte(scenario), 0o600))
}

// repo makes a folder a git repository with all its files in one commit, and goes
// there: `repo DIR`.
func repo(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "repo DIR")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Chdir(dir))
	for _, c := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=A Person", "-c", "user.email=person@example.com", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		ts.Check(ts.Exec("git", c...))
	}
}

// ends runs a program that must end with a status and leave no process behind:
// `ends STATUS PROGRAM ARGS…`. After a run, $RUN is its directory, $RUNID its id,
// and all that is in there is held against the published schemas.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 1000, "ends STATUS PROGRAM ARGS…")
	ts.Check(ts.Exec("alone", args...))
	ran(ts, false, nil)
}

var runLine = regexp.MustCompile(`(?m)^(?:planning )?run (\S+) in (.+)$`)

// ran does what `ends` does after a run, for one that ended in the background:
// `ran [FILE]`, where FILE holds its standard error if that is not the last one.
func ran(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, 1, "ran [FILE]")
	said := "stderr"
	if len(args) == 1 {
		said = args[0]
	}
	all := runLine.FindAllStringSubmatch(ts.ReadFile(said), -1)
	if len(all) == 0 {
		return
	}
	m := all[len(all)-1] // a request is planned in a run, and carried out in another
	ts.Setenv("RUNID", m[1])
	ts.Setenv("RUN", m[2])
	for _, err := range ledgertest.ValidateRun(m[2]) {
		ts.Logf("%v", err)
		defer ts.Fatalf("the run directory is not as published")
	}
	left, err := os.ReadDir(ts.Getenv("TMPDIR"))
	ts.Check(err)
	for _, f := range left {
		ts.Fatalf("a temporary file is left: %s", f.Name())
	}
}

// job holds a job of the last run's state against what is wanted:
// `job ID STATUS [REASON [EVIDENCE-PATTERN]]`.
func job(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 2, 4, "job ID STATUS [REASON [EVIDENCE-PATTERN]]")
	args = append(args, "", "")
	state := document(ts, filepath.Join(ts.Getenv("RUN"), "state.json"))
	jobs, _ := state["jobs"].([]any)
	if a, ok := state["arbiter"]; ok && args[0] == "arbiter" {
		jobs = append(jobs, a)
	}
	for _, j := range jobs {
		j, _ := j.(map[string]any)
		if j["id"] != args[0] {
			continue
		}
		evidence := fmt.Sprint(j["evidence"])
		if text(j["status"]) != args[1] || text(j["reason"]) != args[2] || !regexp.MustCompile(args[3]).MatchString(evidence) {
			ts.Fatalf("job %s: %s %s: %s", args[0], j["status"], j["reason"], evidence)
		}
		return
	}
	ts.Fatalf("no job %s in %v", args[0], jobs)
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// verdict holds the last run's verdict against what is wanted:
// `verdict WORD [PATTERN-OF-WHY]`.
func verdict(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 2, "verdict WORD [PATTERN]")
	v := document(ts, filepath.Join(ts.Getenv("RUN"), "arbiter", "verdict.json"))
	if v["verdict"] != args[0] {
		ts.Fatalf("verdict %v: %v", v["verdict"], v["why"])
	}
	if len(args) == 2 && !regexp.MustCompile(args[1]).MatchString(fmt.Sprint(v["why"])) {
		ts.Fatalf("verdict %v, but because: %v", v["verdict"], v["why"])
	}
}

// rules demands that the engine found exactly these rules broken, while the
// arbiter, if it was asked, said pass: `rules RULE…`.
func rules(ts *testscript.TestScript, _ bool, args []string) {
	v := document(ts, filepath.Join(ts.Getenv("RUN"), "arbiter", "verdict.json"))
	var found []string
	findings, _ := v["findings"].([]any)
	for _, f := range findings {
		f, _ := f.(map[string]any)
		found = append(found, text(f["rule"]))
	}
	slices.Sort(found)
	slices.Sort(args)
	if !slices.Equal(found, args) {
		ts.Fatalf("broken: %v; %v", found, findings)
	}
	if v["overall"] != "pass" {
		ts.Fatalf("the arbiter says %v", v["overall"])
	}
}

func document(ts *testscript.TestScript, file string) map[string]any {
	var doc map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &doc); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	return doc
}

// jsonValue compares one value of a JSON file: `json FILE PATH VALUE`, where PATH is
// keys and indexes with dots between them and VALUE is "null", a word, or JSON.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 3, 3, "json FILE PATH VALUE")
	var v any = document(ts, args[0])
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				ts.Fatalf("%s has no %s in %v", args[0], args[1], at)
			}
			v = at[i]
		default:
			v = nil
		}
	}
	got, ok := v.(string)
	if !ok {
		data, err := json.Marshal(v)
		ts.Check(err)
		got = string(data)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s: %s is %s", filepath.Base(args[0]), args[1], got)
	}
}

// files demands that these files are in the last run's directory, and not empty.
func files(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		if info, err := os.Stat(filepath.Join(ts.Getenv("RUN"), name)); err != nil || !info.IsDir() && info.Size() == 0 {
			ts.Fatalf("%s is not in the run directory or empty (%v)", name, err)
		}
	}
}

// expand puts the script's folder for $WORK in files: `expand FILE…`.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "$WORK", ts.Getenv("WORK"))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// patience bounds what a script waits for; it is only reached by a fault.
const patience = time.Minute

// await waits until a file is there: `await FILE`.
func await(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "await FILE")
	matches := []string(nil)
	for end := time.Now().Add(patience); len(matches) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s did not come", args[0])
		}
		matches, _ = filepath.Glob(ts.MkAbs(args[0])) // the pattern is the script's own
	}
	ts.Setenv("FOUND", matches[0])
}

// free demands that a lock was taken once and that nobody holds it any more.
func free(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		f, err := os.Open(ts.MkAbs(name))
		ts.Check(err)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		f.Close()
		if err != nil {
			ts.Fatalf("%s is held: %v", name, err)
		}
	}
}

// clean demands that git sees no change in the current folder's checkout, ours
// included.
func clean(ts *testscript.TestScript, _ bool, _ []string) {
	cmd := exec.Command("git", "status", "--porcelain", "--untracked-files=all")
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	ts.Check(err)
	if len(out) > 0 {
		ts.Fatalf("git status: %s", out)
	}
}

// nosecret searches the last run's directory, worktrees apart, for values, also
// encoded: `nosecret VALUE…`; `! nosecret` demands that each is found.
func nosecret(ts *testscript.TestScript, neg bool, args []string) {
	var hits []secrettest.Hit
	run := ts.Getenv("RUN")
	entries, err := os.ReadDir(run)
	ts.Check(err)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "worktrees" })
	for _, e := range entries {
		found, err := secrettest.Find(filepath.Join(run, e.Name()), args)
		ts.Check(err)
		hits = append(hits, found...)
	}
	if !neg && len(hits) > 0 {
		ts.Fatalf("found: %+v", hits)
	}
	for _, v := range args {
		if neg && !slices.ContainsFunc(hits, func(h secrettest.Hit) bool { return h.Value == v }) {
			ts.Fatalf("%q is not found", v)
		}
	}
}
