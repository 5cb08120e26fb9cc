//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ledger/ledgertest"
	"orchestrate/internal/modelsim"
	"orchestrate/internal/secret/secrettest"
)

// runLimit ends a run that hangs; no test comes near it.
const runLimit = 8 * time.Minute

// lab is a workspace with a home, signed-in agents and a model service of its own.
type lab struct {
	t    *testing.T
	base string // everything below is in it
	dir  string // the workspace, a git repository
	bin  string // where the agents are found
	env  []string
	keys []string // made-up, of all agents
	sim  *modelsim.Server

	asked    chan struct{} // is closed at the model call after which signals are sent
	askedAt  int           // which one that is; the first unless a test says so
	released chan struct{} // is closed when held answers are given
	release  func()
}

// held begins the names of rules whose answers the model service keeps back until
// the lab's release is called.
const held = "held "

// need reads a setting that scripts/e2e.sh makes.
func need(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run these tests by scripts/e2e.sh", name)
	}
	return value
}

// newLab sets up everything, for a test that may run beside others. The lab is not below the temporary folder, where
// codex's sandbox does not work.
func newLab(t *testing.T, scenario string, nonces map[string]string) *lab {
	t.Helper()
	t.Parallel()
	return makeLab(t, scenario, nonces)
}

// newQuietLab is a lab whose test does not run beside others and calls no model.
func newQuietLab(t *testing.T) *lab {
	t.Helper()
	return makeLab(t, idle, nil)
}

func makeLab(t *testing.T, scenario string, nonces map[string]string) *lab {
	t.Helper()
	return newAgentLab(t, scenario, nonces, claude(), codex())
}

// bareLab is a lab without an agent.
func bareLab(t *testing.T, scenario string, nonces map[string]string) *lab {
	t.Helper()
	base, err := os.MkdirTemp(need(t, "ORCHESTRATE_E2E_LABS"), "lab-")
	ok(t, err)
	t.Cleanup(func() { ok(t, os.RemoveAll(base)) })
	l := &lab{t: t, base: base, dir: filepath.Join(base, "work"), bin: filepath.Join(base, "bin")}
	for _, dir := range []string{"work", "bin", "home", "tmp"} {
		ok(t, os.Mkdir(filepath.Join(base, dir), 0o700))
	}
	ok(t, os.Symlink(node(t), filepath.Join(l.bin, "node")))
	l.serve(scenario, nonces)
	l.env = []string{
		"PATH=" + l.bin + ":" + strings.Join(elsewhere(), ":"), "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp"),
		"TERM=dumb", "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}
	return l
}

// node is the Node.js that many agents start with: the installed one, which is as new
// as they need it.
func node(t *testing.T) string {
	t.Helper()
	path := filepath.Join(need(t, "ORCHESTRATE_E2E_CLIS"), "node")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath("node")
	ok(t, err)
	return path
}

// key makes up a key and remembers it: it may be in no file of a run.
func (l *lab) key(prefix string) string {
	key := prefix + rand.Text()
	l.keys = append(l.keys, key)
	return key
}

// set adds variables to the environment of everything that is run.
func (l *lab) set(entries ...string) { l.env = append(l.env, entries...) }

// elsewhere are the folders of PATH in which no agent is installed. A name that is a
// common word says nothing of a folder.
func elsewhere() (dirs []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !slices.ContainsFunc(agents(), func(a agent) bool {
			_, err := os.Lstat(filepath.Join(dir, a.name))
			return err == nil && len(a.name) > 3
		}) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (l *lab) serve(scenario string, nonces map[string]string) {
	l.t.Helper()
	s, err := modelsim.Parse([]byte(scenario))
	ok(l.t, err)
	l.asked, l.released, l.askedAt = make(chan struct{}), make(chan struct{}), 1
	l.release = sync.OnceFunc(func() { close(l.released) })
	var calls atomic.Int64
	l.sim, err = modelsim.Start(s, modelsim.Options{Nonces: nonces, Asked: func(r modelsim.Request) {
		if int(calls.Add(1)) == l.askedAt {
			close(l.asked)
		}
		if strings.HasPrefix(r.Rule, held) {
			<-l.released
		}
	}})
	ok(l.t, err)
	l.t.Cleanup(func() {
		l.release()
		ok(l.t, l.sim.Close())
	})
}

// changeService replaces the model service by one that plays another scenario at the
// same address, and returns what the one before was asked.
func (l *lab) changeService(scenario string) []modelsim.Request {
	l.t.Helper()
	before := l.sim.Requests()
	ok(l.t, l.sim.Close())
	s, err := modelsim.Parse([]byte(scenario))
	ok(l.t, err)
	l.sim, err = modelsim.Start(s, modelsim.Options{Addr: strings.TrimPrefix(l.sim.URL(""), "http://")})
	ok(l.t, err)
	return before
}

// answered counts the requests that each rule answered.
func answered(requests []modelsim.Request) map[string]int {
	count := map[string]int{}
	for _, r := range requests {
		if r.Rule != "" {
			count[r.Rule]++
		}
	}
	return count
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file writes a file below the lab's folder.
func (l *lab) file(path, content string) {
	l.t.Helper()
	full := filepath.Join(l.base, path)
	ok(l.t, os.MkdirAll(filepath.Dir(full), 0o700))
	ok(l.t, os.WriteFile(full, []byte(content), 0o600))
}

// command runs a program in the workspace and returns what it prints.
func (l *lab) command(stdin string, argv ...string) string {
	l.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.dir, l.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// vouch says that the agents can do every task, where that is not what is tested: a
// busy machine must not decide it by how soon they answer.
func (l *lab) vouch() {
	l.t.Helper()
	l.file("home/.config/orchestrate/config.yaml", "runtimes: {claude: {capability: C3}, codex: {capability: C3}}\n")
}

// repository commits the files (name, content, …) as the workspace's only commit.
func (l *lab) repository(files ...string) {
	l.t.Helper()
	for i := 0; i < len(files); i += 2 {
		l.file("work/"+files[i], files[i+1])
	}
	for _, args := range []string{
		"init -q -b main", "add -A", "-c user.name=Ann -c user.email=ann@example.invalid commit -q --allow-empty -m first",
	} {
		l.command("", append([]string{"git"}, strings.Fields(args)...)...)
	}
}

// changes is what git sees in the main checkout.
func (l *lab) changes() string {
	l.t.Helper()
	return l.command("", "git", "--no-optional-locks", "status", "--porcelain")
}

// ended is one finished command of orchestrate.
type ended struct {
	*lab
	exit           int
	stdout, stderr string
	run            string // run directory; "" if none was made
}

// program is the path of orchestrate.
func (l *lab) program() string {
	l.t.Helper()
	program, err := filepath.Abs(filepath.Join(need(l.t, "ORCHESTRATE_E2E_BIN"), "orchestrate"))
	ok(l.t, err)
	return program
}

// orchestrate runs the program under a watcher; no process may outlive it.
func (l *lab) orchestrate(args ...string) *ended {
	l.t.Helper()
	return l.signalled(args)
}

// signalled is orchestrate with signals that are sent to it while an agent works.
func (l *lab) signalled(args []string, signals ...syscall.Signal) *ended {
	l.t.Helper()
	e, left := l.watched(append([]string{l.program()}, args...), signals...)
	for _, process := range left {
		l.t.Errorf("orchestrate %q left a process: %s", args, process)
	}
	if m := runLine.FindStringSubmatch(e.stderr); m != nil {
		e.run = m[1]
	}
	return e
}

// watched runs a program and says which processes outlived it. signals are sent to
// it one after the other, all after the model call at which they are due.
func (l *lab) watched(argv []string, signals ...syscall.Signal) (e *ended, left []string) {
	l.t.Helper()
	w := l.begin(nil, argv...)
	if len(signals) > 0 {
		select {
		case <-l.asked:
		case <-w.ctx.Done():
		}
	}
	for _, sig := range signals {
		ok(l.t, w.cmd.Process.Signal(sig))
	}
	return w.end()
}

// underWatch is a program under its watcher.
type underWatch struct {
	*lab
	ctx            context.Context
	cancel         context.CancelFunc
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	finding        *os.File
}

func (l *lab) begin(stdin *os.File, argv ...string) *underWatch {
	l.t.Helper()
	w := &underWatch{lab: l}
	w.ctx, w.cancel = context.WithTimeout(context.Background(), runLimit)
	w.cmd = exec.CommandContext(w.ctx, "/proc/self/exe", argv...)
	w.cmd.Dir, w.cmd.Env = l.dir, append([]string{stageEnv + "=" + stageWatcher}, l.env...)
	if stdin != nil {
		w.cmd.Stdin = stdin
	}
	w.cmd.Stdout, w.cmd.Stderr = &w.stdout, &w.stderr
	w.cmd.Cancel = func() error { return w.cmd.Process.Signal(syscall.SIGTERM) } // the watcher ends the rest
	w.cmd.WaitDelay = 20 * time.Second
	var write *os.File
	var err error
	w.finding, write, err = os.Pipe()
	ok(l.t, err)
	w.cmd.ExtraFiles = []*os.File{write}
	ok(l.t, w.cmd.Start())
	ok(l.t, write.Close())
	return w
}

func (w *underWatch) end() (e *ended, left []string) {
	w.t.Helper()
	defer w.cancel()
	defer w.finding.Close()
	var found watched
	decoded := json.NewDecoder(w.finding).Decode(&found)
	waited := w.cmd.Wait()
	e = &ended{lab: w.lab, exit: found.Exit, stdout: w.stdout.String(), stderr: w.stderr.String()}
	if decoded != nil || waited != nil {
		w.t.Fatalf("%q under its watcher: %v, %v\n%s%s", w.cmd.Args[1:], waited, decoded, e.stdout, e.stderr)
	}
	return e, found.Left
}

var runLine = regexp.MustCompile(`(?m)^run \S+ in (.+)$`)

// spec runs a spec and checks what holds for every run.
func (l *lab) spec(text string, signals ...syscall.Signal) *ended {
	l.t.Helper()
	l.file("jobs.yaml", text)
	e := l.signalled([]string{"run", filepath.Join(l.base, "jobs.yaml")}, signals...)
	if e.run == "" {
		l.t.Fatalf("no run directory: exit %d\n%s%s", e.exit, e.stdout, e.stderr)
	}
	return e.sound()
}

// id is that of the run in dir.
func id(dir string) string { return strings.TrimPrefix(filepath.Base(dir), "orchestrate-") }

// again resumes a run that has stopped and checks what holds for every run.
func (e *ended) again(args ...string) *ended {
	e.t.Helper()
	next := e.orchestrate(append([]string{"resume", id(e.run)}, args...)...)
	next.run = e.run
	return next.sound()
}

// sound checks what holds for every run, however it ended.
func (e *ended) sound() *ended {
	e.t.Helper()
	if changes := e.changes(); changes != "" {
		e.t.Errorf("the main checkout changed:\n%s", changes)
	}
	for _, err := range ledgertest.ValidateRun(e.run) {
		e.t.Errorf("schema: %v", err)
	}
	hits, err := secrettest.Find(e.run, e.keys)
	ok(e.t, err)
	for _, h := range hits {
		e.t.Errorf("a key is in %s (%s)", h.Path, h.Via)
	}
	return e
}

// wants fails with all there is to see unless the exit status is as wanted.
func (e *ended) wants(exit int) *ended {
	e.t.Helper()
	if e.exit != exit {
		e.t.Fatalf("exit status %d, want %d\n%s%s", e.exit, exit, e.stdout, e.stderr)
	}
	return e
}

func (e *ended) text(path string) string {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(e.run, path))
	ok(e.t, err)
	return string(data)
}

func (e *ended) status(job string) ledger.JobStatus {
	e.t.Helper()
	return e.statusAt(ledger.JobPath(job, ledger.StatusFile))
}

func (e *ended) statusAt(path string) (s ledger.JobStatus) {
	e.t.Helper()
	ok(e.t, json.Unmarshal([]byte(e.text(path)), &s))
	return s
}

func (e *ended) verdict() (j ledger.Judgement) {
	e.t.Helper()
	ok(e.t, json.Unmarshal([]byte(e.text(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile))), &j))
	return j
}
