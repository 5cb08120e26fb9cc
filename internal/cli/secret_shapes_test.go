//go:build linux

package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrate/internal/secret/secrettest"
)

// planted is a workspace full of made-up secrets: in its environment and .env files,
// and beside it, in the vault, in every form in which a program may come upon them.
type planted struct {
	t      *testing.T
	base   string
	env    []string
	shapes []secrettest.Shape
	values []string // of which nobody may see any
}

// plant makes one. The secrets are others each time.
func plant(t *testing.T, config string) *planted {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("the secrets of seed %d", seed)
	p := &planted{t: t, base: t.TempDir(), shapes: secrettest.Shapes(seed)}
	p.env = []string{
		"PATH=" + filepath.Join(p.base, "agents") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.base, "home"), "TMPDIR=" + filepath.Join(p.base, "tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0", "TERM=dumb",
	}
	for _, dir := range []string{"agents", "home", "tmp", "vault", "work/pkg"} {
		p.check(os.MkdirAll(filepath.Join(p.base, dir), 0o700))
	}
	p.file("home/.config/orchestrate/config.yaml", config)
	p.know()
	p.fillVault()
	self, err := os.Executable()
	p.check(err)
	p.check(os.Symlink(self, filepath.Join(p.base, "agents/claude")))
	p.file("work/.gitignore", ".env*\ndist/\n")
	for _, args := range []string{"init -q -b main", "add -A", "-c user.name=Ann -c user.email=ann@example.invalid commit -q -m start"} {
		p.program(0, "git", strings.Fields(args)...)
	}
	return p
}

func (p *planted) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *planted) file(name, content string) {
	p.t.Helper()
	full := filepath.Join(p.base, name)
	p.check(os.MkdirAll(filepath.Dir(full), 0o700))
	p.check(os.WriteFile(full, []byte(content), 0o600))
}

// know puts the values without a shape where the engine knows them from.
func (p *planted) know() {
	dotenv := map[string]string{}
	for i, s := range p.shapes {
		p.values = append(p.values, s.Halves()...)
		switch s.Known {
		case secrettest.FromEnv:
			p.env = append(p.env, s.Name+"="+s.Hidden)
		case secrettest.FromDotenv:
			file := []string{"work/.env", "work/pkg/.env.local"}[i%2]
			dotenv[file] += s.Name + `="` + s.Hidden + "\"\n"
		}
	}
	for name, content := range dotenv {
		p.file(name, content)
	}
}

// forms are the texts in which all secrets stand, by name.
var forms = []string{"whole", "straddling", "json", "base64"}

// fillVault writes each form into a file, and into parts/ what is to be written in two
// steps. names holds what can be the name of a file.
func (p *planted) fillVault() {
	all := map[string]*strings.Builder{}
	for _, f := range append(forms, "names") {
		all[f] = &strings.Builder{}
	}
	for i, s := range p.shapes {
		quoted, err := json.Marshal(map[string]string{"text": s.Text})
		p.check(err)
		encoded := base64.StdEncoding.EncodeToString([]byte("user:" + s.Text))
		fmt.Fprintf(all["whole"], "%s\n", s.Text)
		fmt.Fprintf(all["json"], "%s\n", quoted)
		fmt.Fprintf(all["base64"], "%s\n%s\n\n", encoded, folded(encoded, 76))
		straddle(all["straddling"], s)
		half := strings.Index(s.Text, s.Hidden) + len(s.Hidden)/2
		p.file(fmt.Sprintf("vault/parts/%02d.a", i), s.Text[:half])
		p.file(fmt.Sprintf("vault/parts/%02d.b", i), s.Text[half:]+"\n")
		for _, name := range []string{strings.TrimSpace(s.Text), base64.RawURLEncoding.EncodeToString([]byte("of " + s.Text))} {
			if len(name) < 250 && !strings.ContainsAny(name, "/\n\\") {
				fmt.Fprintf(all["names"], "%s\n", name)
			}
		}
	}
	for name, text := range all {
		p.file("vault/"+name, text.String())
	}
}

// straddle puts a secret on the next border of 8 KiB, which is one of every buffer that may
// lie on its way.
func straddle(b *strings.Builder, s secrettest.Shape) {
	const border = 8 << 10
	half := strings.Index(s.Text, s.Hidden) + len(s.Hidden)/2
	pad := border - (b.Len()+half)%border
	b.WriteString(strings.Repeat("a line that says nothing\n", pad/25))
	b.WriteString(strings.Repeat(" ", pad%25))
	b.WriteString(s.Text + "\n")
}

func folded(text string, width int) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + text
}

// program runs one, which must end with a status, and returns what it printed.
func (p *planted) program(status int, name string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir, cmd.Env = filepath.Join(p.base, "work"), p.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		p.t.Fatalf("%s %q: %v, want status %d\n%.5000s", name, args, err, status, p.hidden(string(out)))
	}
	return string(out)
}

// hidden is for what a failure shows.
func (p *planted) hidden(text string) string {
	for _, v := range p.values {
		text = strings.ReplaceAll(text, v, "<SECRET>")
	}
	return text
}

// run is the directory of the only run.
func (p *planted) run() string {
	p.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.base, "work/plans/reports/orchestrate-2*"))
	p.check(err)
	if len(dirs) != 1 {
		p.t.Fatalf("%d runs", len(dirs))
	}
	return dirs[0]
}

// search looks through everything that is on disk but the vault, what the agent's
// script holds, the .env files, the trees of jobs and what git keeps.
func (p *planted) search(but ...string) {
	p.t.Helper()
	run := p.run()
	but = append(but, filepath.Join(run, "worktrees"))
	roots := []string{filepath.Join(p.base, "home"), filepath.Join(p.base, "tmp"), filepath.Join(p.base, "work/plans")}
	for _, root := range roots {
		p.check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case slices.Contains(but, path):
				return filepath.SkipDir
			}
			p.none("the name of "+d.Name(), d.Name())
			if !d.Type().IsRegular() {
				return nil
			}
			data, err := os.ReadFile(path)
			if err == nil {
				p.none(path, string(data))
			}
			return err
		}))
	}
}

// none demands that no secret, nor half of one, is in a text.
func (p *planted) none(where, text string) {
	p.t.Helper()
	for _, h := range secrettest.InText(where, []byte(text), p.values) {
		class := ""
		for _, s := range p.shapes {
			if slices.Contains(s.Halves(), h.Value) {
				class = s.Class
			}
		}
		p.t.Errorf("%s shows a secret of class %s (%s)", p.hidden(where), class, h.Via)
	}
}

// watchCommandLines looks at what every process was started with, until it is told to
// stop, and returns all that it saw.
func watchCommandLines() (stop func() string) {
	done, ended := make(chan struct{}), sync.WaitGroup{}
	seen := map[string]bool{}
	ended.Go(func() {
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is sound
			for _, f := range files {
				if data, err := os.ReadFile(f); err == nil { // else it ended meanwhile
					seen[string(data)] = true
				}
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() string {
		close(done)
		ended.Wait()
		var all bytes.Buffer
		for line := range seen {
			all.WriteString(strings.ReplaceAll(line, "\x00", "\n") + "\n")
		}
		return all.String()
	}
}

// shapesSpec is a run in which every job comes upon all secrets.
func (p *planted) shapesSpec() string {
	var b strings.Builder
	b.WriteString("version: 1\nconcurrency: 8\ndefaults: {timeout: 5m, runtime: exec, effect: observe, expected_output: x, max_output_bytes: 8388608}\narbiter: {runtime: claude}\njobs:\n")
	job := func(id, command, more string) {
		fmt.Fprintf(&b, "  - {id: %s, command: [sh, -c, '%s']%s}\n", id, strings.ReplaceAll(command, "$VAULT", filepath.Join(p.base, "vault")), more)
	}
	writer := func(id, command, more string) {
		job(id, "mkdir "+id+"; cd "+id+"; "+command, `, effect: scoped-write, isolation: worktree, checks: ["true"], owned_paths: ["`+id+`/**"]`+more)
	}
	parts := `for n in $VAULT/parts/*; do cat $n; sleep 0.01; done`
	for _, f := range forms {
		cat := "cat $VAULT/" + f
		job("out-"+f, cat, "")
		job("err-"+f, cat+" >&2", "")
		job("left-"+f, cat+" >$ORCHESTRATE_OUT/it", "")
		writer("patch-"+f, cat+" >it", "")
	}
	job("out-parts", parts, ", cwd: pkg")
	job("err-parts", "{ "+parts+"; } >&2; exit 3", "")
	writer("patch-parts", "{ "+parts+"; } >it", "")
	job("left-names", `while read -r n; do echo x >"$ORCHESTRATE_OUT/$n"; done <$VAULT/names`, "")
	writer("patch-names", `while read -r n; do echo x >"$n"; done <$VAULT/names`, "")
	job("checked", "true", strings.ReplaceAll(`, checks: ["cat $VAULT/whole", "{ `+parts+`; } >&2", "cp $VAULT/json $ORCHESTRATE_OUT/it"]`, "$VAULT", filepath.Join(p.base, "vault")))
	writer("make", "mkdir dist; cp $VAULT/whole dist/it", `, outputs: [{path: make/dist/it}]`)
	fmt.Fprint(&b, "  - {id: next, runtime: claude, task: scout, prompt: case next, depends_on: [make], inputs: [{from_job: make, from_path: make/dist/it}]}\n")
	for _, f := range forms {
		fmt.Fprintf(&b, "  - {id: say-%s, runtime: claude, task: scout, prompt: case %s}\n", f, f)
	}
	return b.String()
}

// shapesAgent is what the agent says to each prompt.
func (p *planted) shapesAgent() string {
	var runs []map[string]any
	for _, f := range forms {
		text, err := os.ReadFile(filepath.Join(p.base, "vault", f))
		p.check(err)
		runs = append(runs, map[string]any{"match": "case " + f, "steps": []any{
			map[string]any{"stderr": string(text)},
			map[string]any{"tool": map[string]any{"name": "Bash", "input": string(text[:min(len(text), 20_000)])}},
			map[string]any{"say": string(text)},
			map[string]any{"answer": string(text)},
		}})
	}
	runs = append(runs,
		map[string]any{"match": "case next", "steps": []any{map[string]any{"answer": "done"}}},
		map[string]any{"steps": []any{map[string]any{"verdict": map[string]any{}}}})
	data, err := json.Marshal(map[string]any{"runs": runs}) // which is YAML
	p.check(err)
	return string(data)
}

// TestNoShapeOfSecretIsLeft lets programs, an agent and checks come upon sixty secrets
// in every form. None is on disk afterwards, nor half of one; none is shown, and none
// was ever on a command line.
func TestNoShapeOfSecretIsLeft(t *testing.T) {
	t.Parallel()
	p := plant(t, "")
	p.file("agents/fakecli.yaml", p.shapesAgent())
	p.file("work/jobs.yaml", p.shapesSpec())
	p.none("plan", p.program(0, "orchestrate", "plan", "--json", "jobs.yaml"))
	stop := watchCommandLines()
	out := p.program(0, "alone", "1", "orchestrate", "run", "jobs.yaml")
	p.none("a command line", stop())
	p.none("the run's output", out)
	p.search()
	p.ended(map[string]string{
		"out-": "success", "err-": "success", "err-parts": "crash", "left-": "injected_secret", "patch-": "injected_secret",
		"say-": "success", "next": "success", "make": "success", "checked": "injected_secret",
	})
	for _, args := range [][]string{
		{"status", "--json"}, {"explain"}, {"explain", "out-whole"}, {"explain", "patch-whole"}, {"explain", "say-json"}, {"output", "out-parts"}, {"doctor"}, {"doctor", "--json"},
	} {
		cmd := exec.CommandContext(t.Context(), "orchestrate", args...)
		cmd.Dir, cmd.Env = filepath.Join(p.base, "work"), p.env
		shown, err := cmd.CombinedOutput()
		if len(shown) == 0 {
			t.Errorf("%q shows nothing: %v", args, err)
		}
		p.none(fmt.Sprintf("%q", args), string(shown))
	}
}

// ended demands how jobs ended, by the longest beginning of their id.
func (p *planted) ended(want map[string]string) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.run(), "*", "status.json"))
	p.check(err)
	for _, f := range files {
		var s struct{ ID, Status, Reason string }
		data, err := os.ReadFile(f)
		p.check(err)
		p.check(json.Unmarshal(data, &s))
		best := ""
		for begin := range want {
			if strings.HasPrefix(s.ID, begin) && len(begin) > len(best) {
				best = begin
			}
		}
		if got := s.Status + s.Reason; best != "" && !strings.HasSuffix(got, want[best]) {
			p.t.Errorf("job %s: %s %s, want %s", s.ID, s.Status, s.Reason, want[best])
		}
	}
}

// spellings are how YAML can write one text.
var spellings = []string{"block", "escaped", "folded"}

// intakeSpec has each secret in the prompt of a job, in one spelling.
func (p *planted) intakeSpec(spelling string) string {
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {runtime: claude, task: scout, timeout: 1m, expected_output: x}\njobs:\n")
	for i, s := range p.shapes {
		half := strings.Index(s.Text, s.Hidden) + len(s.Hidden)/2
		prompt := escaped(s.Text)
		switch spelling {
		case "block":
			prompt = "|\n      do it with\n" + indented(s.Text)
		case "folded":
			prompt = "\"" + inQuotes(s.Text[:half]) + fmt.Sprintf("\\\n      \\x%02x", s.Text[half]) + inQuotes(s.Text[half+1:]) + "\""
		}
		fmt.Fprintf(&b, "  - id: j%d\n    cwd: pkg\n    prompt: %s\n", i, prompt)
	}
	return b.String()
}

func indented(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}

// escaped is a text in double quotes with all that is possible written as an escape.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return `"` + b.String() + `"`
}

// inQuotes is a text as it may stand in double quotes.
func inQuotes(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

// TestNoShapeOfSecretIsTakenIn in a prompt or a file that the spec names. What is not
// refused, because a person may have chosen it, is in no file of the run.
func TestNoShapeOfSecretIsTakenIn(t *testing.T) {
	t.Parallel()
	p := plant(t, "")
	p.file("agents/fakecli.yaml", "runs:\n  - steps: [{answer: done}]\n")
	specs := []string{"file"}
	for _, spelling := range spellings {
		specs = append(specs, spelling)
		p.file("work/"+spelling+".yaml", p.intakeSpec(spelling))
	}
	p.file("work/whole.md", "do it\n"+p.vault("whole"))
	p.file("work/json.md", p.vault("json"))
	p.file("work/file.yaml", "version: 1\ndefaults: {runtime: claude, task: scout, timeout: 1m, expected_output: x}\njobs:\n  - {id: a, prompt_file: whole.md, cwd: pkg}\n  - {id: b, prompt_file: json.md}\n")
	refused := map[string]bool{}
	for _, spec := range specs {
		out := p.program(2, "orchestrate", "plan", "--json", spec+".yaml")
		p.none("what is said of "+spec, out)
		p.none("what is said of "+spec, p.program(2, "orchestrate", "run", spec+".yaml"))
		var told struct {
			Diagnostics []struct{ Rule, Field string }
		}
		p.check(json.Unmarshal([]byte(out), &told))
		for _, d := range told.Diagnostics {
			if d.Rule != "secret" {
				t.Errorf("%s: %+v", spec, d)
			}
			refused[spec+" "+d.Field] = true
		}
	}
	if _, err := os.Stat(filepath.Join(p.base, "work/plans")); err == nil {
		t.Error("a refused spec made a run")
	}
	p.letIn(refused)
}

func (p *planted) vault(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.base, "vault", name))
	p.check(err)
	return string(data)
}

// letIn runs what was not refused. The .env file of a folder that only a job names is
// read when there is nothing else to say against a spec.
func (p *planted) letIn(refused map[string]bool) {
	p.t.Helper()
	const head = "version: 1\narbiter: {mode: checks-only}\ndefaults: {runtime: claude, task: scout, timeout: 1m, expected_output: x, cwd: pkg}\njobs:\n  - {id: none, prompt: nothing}\n"
	let, later := head, head
	for i, s := range p.shapes {
		for _, spelling := range spellings {
			job := fmt.Sprintf("  - {id: j%d-%s, prompt: \"%s\"}\n", i, spelling, inQuotes(s.Text))
			switch {
			case refused[fmt.Sprintf("%s jobs[%d].prompt", spelling, i)]:
			case s.Known == secrettest.FromDotenv:
				later += job
			default:
				let += job
			}
		}
	}
	if n := strings.Count(let, "\n") - 5; n > 12 {
		p.t.Errorf("%d of %d are let in", n, 3*len(p.shapes))
	}
	p.file("work/later.yaml", later)
	out := p.program(2, "orchestrate", "plan", "later.yaml")
	p.none("what is said of .env values", out)
	if want, got := strings.Count(later, "id: j")/3, strings.Count(out, "rule exact"); got < want {
		p.t.Errorf("%d of %d values are refused: %s", got, want, out)
	}
	p.file("work/let.yaml", let)
	stop := watchCommandLines()
	p.none("the run's output", p.program(0, "alone", "0", "orchestrate", "run", "let.yaml"))
	p.none("a command line", stop())
	p.search()
}

// TestAKilledRunLeavesNoSecret neither before it is resumed nor after.
func TestAKilledRunLeavesNoSecret(t *testing.T) {
	t.Parallel()
	p := plant(t, "sandbox: {off: true}\n") // in which a job may not end the engine
	vault := filepath.Join(p.base, "vault")
	p.file("vault/kill.sh", `cat `+vault+`/whole `+vault+`/json; cat `+vault+`/base64 >&2
[ -e `+p.base+`/tmp/killed ] && exit 0
for n in `+vault+`/parts/0*.a; do cat $n; sleep 0.05; done
echo >`+p.base+`/tmp/killed
read -r _ _ _ engine _ </proc/$PPID/stat
head -c 4000 `+vault+`/straddling; kill -KILL $engine $PPID; cat `+vault+`/whole
`)
	p.file("work/jobs.yaml", "version: 1\ndefaults: {timeout: 5m, runtime: exec, effect: observe, expected_output: x}\narbiter: {mode: checks-only}\njobs:\n  - {id: killed, cwd: pkg, command: [sh, "+vault+"/kill.sh]}\n")
	out := p.program(0, "alone", "-adopt", "130", "orchestrate", "run", "jobs.yaml")
	p.none("the run's output", out)
	p.search()
	p.none("the resumed run's output", p.program(0, "alone", "0", "orchestrate", "resume", p.run()))
	p.search()
	p.ended(map[string]string{"killed": "success"})
}
