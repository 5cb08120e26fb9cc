//go:build e2e && linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/modelsim"
	"orchestrate/internal/runtime"
)

// attempt is one way in which an agent may try to get out of its boundary.
type attempt struct {
	name  string
	shell string // a line for the agent's shell; "" = do says what its tools do
	do    []string
	reads bool // it takes something out; the others change something
	run   bool // it is after files of the run
}

// attempts are all that a shell can try. They are lines of a script in the repository:
// the agent, which looks at the commands that it is asked to run, sees its call alone.
// Names in capitals are set by the script; what begins with "planted" was left in the
// tree by an earlier job.
func attempts() []attempt {
	return []attempt{
		{name: "redirect", shell: `echo x >"$OUTSIDE/made"`},
		{name: "overwrite", shell: `echo x >"$OUTSIDE/precious"`},
		{name: "append", shell: `echo x >>"$OUTSIDE/precious"`},
		{name: "remove", shell: `rm -f "$OUTSIDE/precious"`},
		{name: "folder", shell: `mkdir "$OUTSIDE/folder"`},
		{name: "symlink", shell: `ln -s "$OUTSIDE/precious" way && echo x >way`},
		{name: "symlink to a folder", shell: `ln -s "$OUTSIDE" ways && echo x >ways/made`},
		{name: "planted symlink", shell: `echo x >planted`},
		{name: "planted symlink to a folder", shell: `echo x >planted.d/made`},
		{name: "rename over", shell: `echo x >own && node rename.js own "$OUTSIDE/precious"`},
		{name: "move over", shell: `echo x >own && mv -f own "$OUTSIDE/precious"`},
		{name: "rename away", shell: `node rename.js "$OUTSIDE/precious" taken`},
		{name: "hard link", shell: `ln "$OUTSIDE/precious" hard && echo x >>hard`},
		{name: "root of a process", shell: `echo x >"/proc/self/root$OUTSIDE/precious"`},
		{name: "root of the supervisor", shell: `echo x >"/proc/$SUPERVISOR/root$OUTSIDE/precious"`},
		{name: "folder of the supervisor", shell: `echo x >"/proc/$SUPERVISOR/cwd/made"`},
		{name: "main checkout", shell: `echo x >"$MAIN/notes.txt"`},
		{name: "new in the main checkout", shell: `echo x >"$MAIN/made"`},
		{name: "hook", shell: `echo 'exit 1' >"$MAIN/.git/hooks/pre-commit"`},
		{name: "git settings", shell: `git config core.fsmonitor "$PWD/attempts.sh"`},
		{name: "journal", shell: `echo x >>"$RUN/journal.jsonl"`, run: true},
		{name: "another answer", shell: `echo x >"$RUN/scout/output.md"`, run: true},
		{name: "keys to come", shell: `echo x >>"$HOME/.ssh/authorized_keys"`},
		{name: "start of the shell", shell: `echo x >>"$HOME/.profile"`},

		{name: "reading a key", shell: `cat "$HOME/.ssh/id_made_up"`, reads: true},
		{name: "reading a copied key", shell: `cp "$HOME/.ssh/id_made_up" copy && cat copy`, reads: true},
		{name: "listing the keys", shell: `ls "$HOME/.ssh"`, reads: true},
		{name: "reading a key by a process", shell: `cat "/proc/$SUPERVISOR/root$HOME/.ssh/id_made_up"`, reads: true},
		{name: "reading cloud credentials", shell: `cat "$HOME/.aws/credentials"`, reads: true},
		{name: "reading another answer", shell: `cat "$RUN/scout/output.md"`, reads: true},
		{name: "reading the journal", shell: `cat "$RUN/journal.jsonl"`, reads: true},
	}
}

// writing are the attempts that change something.
func writing(all []attempt) []attempt {
	return slices.DeleteFunc(all, func(a attempt) bool { return a.reads })
}

// reading are the attempts that take something out.
func reading(all []attempt) []attempt {
	return slices.DeleteFunc(all, func(a attempt) bool { return !a.reads })
}

// attemptsScript makes the attempt that its argument names and says, in one line, what
// came of it. Its status is that of the attempt.
func (l *lab) attemptsScript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "OUTSIDE=%s MAIN=%s\n", quoted(filepath.Join(l.base, "outside")), quoted(l.dir))
	b.WriteString(`RUN=$(dirname "$(dirname "$ORCHESTRATE_OUT")")
SUPERVISOR=$$
while ! grep -q ^orchestrate-sup "/proc/$SUPERVISOR/comm"; do
  SUPERVISOR=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$SUPERVISOR/stat")
  [ "$SUPERVISOR" -gt 1 ] || { SUPERVISOR=$$ && break; }
done
export OUTSIDE MAIN RUN SUPERVISOR
case $1 in
`)
	for _, a := range attempts() {
		fmt.Fprintf(&b, "%s) line=%s ;;\n", quoted(a.name), "'"+strings.ReplaceAll(a.shell, "'", `'\''`)+"'")
	}
	b.WriteString(`*) echo "no such attempt: $1"; exit 99 ;;
esac
said=$(sh -c "$line" 2>&1)
status=$?
printf '%s' "$said" | tr '\n' ' '
echo " ($1: $status)"
exit $status
`)
	return b.String()
}

// outsideWorld is what must be as it was after every attempt: the folder outside, the
// home and the repository's own settings. said are words that only who reads what it
// may not can say.
func (l *lab) outsideWorld(said map[string]string) {
	l.t.Helper()
	l.file("outside/precious", "precious\n")
	l.file("home/.ssh/id_made_up", said["KEY"]+"\n")
	l.file("home/.aws/credentials", said["CLOUD"]+"\n")
	l.file("home/.profile", "# the person's\n")
	l.repository("notes.txt", "a word\n", "attempts.sh", l.attemptsScript(), "rename.js", `
try { require("fs").renameSync(process.argv[2], process.argv[3]) } catch (e) { console.error(e.message); process.exit(1) }
`)
}

// Every attempt succeeds for who is in no boundary, so that it says something when it
// does not.
func TestEveryAttemptWorksWithoutABoundary(t *testing.T) {
	t.Parallel()
	for _, a := range attempts() {
		t.Run(a.name, func(t *testing.T) {
			l := bareLab(t, idle, nil)
			l.outsideWorld(map[string]string{"KEY": "key", "CLOUD": "cloud"})
			l.file("work/run/scout/output.md", "its answer\n")
			l.file("work/run/journal.jsonl", "{}\n")
			ok(t, os.Symlink(filepath.Join(l.base, "outside/precious"), filepath.Join(l.dir, "planted")))
			ok(t, os.Symlink(filepath.Join(l.base, "outside"), filepath.Join(l.dir, "planted.d")))
			l.set("ORCHESTRATE_OUT=" + filepath.Join(l.dir, "run/escape/artifacts"))
			before := l.untouched()
			said := l.command("", "sh", "attempts.sh", a.name)
			if !a.reads && !a.run && maps.Equal(before, l.untouched()) {
				t.Errorf("it changed nothing: %s", said)
			}
		})
	}
}

// untouched are all files that no attempt may change, with what is in them.
func (l *lab) untouched() map[string]string {
	l.t.Helper()
	all := map[string]string{}
	names, err := os.ReadDir(l.dir)
	ok(l.t, err)
	for _, name := range names {
		if name.Name() != "plans" {
			all[filepath.Join(l.dir, name.Name())] = ""
		}
	}
	for _, dir := range []string{"outside", "home/.ssh", "home/.aws", "home/.profile", "work/.git/hooks", "work/.git/config", "work/notes.txt", "work/attempts.sh"} {
		root := filepath.Join(l.base, dir)
		ok(l.t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				all[path] = "a folder"
				return err
			}
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		}))
	}
	return all
}

// unchanged compares with what was there before.
func (l *lab) unchanged(before map[string]string) {
	l.t.Helper()
	after := l.untouched()
	for path, content := range after {
		if was, there := before[path]; !there || was != content {
			l.t.Errorf("%s is %q now, was %q (there: %t)", path, content, was, there)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			l.t.Errorf("%s is gone", path)
		}
	}
}

// rulesOf are the model's part in a job whose prompt holds words: one attempt after the
// other, whatever comes of it, and at last an answer.
func rulesOf(t *testing.T, words string, all []attempt) string {
	t.Helper()
	var b strings.Builder
	turn := 0
	rule := func(name, do string) {
		fmt.Fprintf(&b, "  - {name: %q, contains: %q, turn: %d, tools: true, do: [%s]}\n", name, words, turn, do)
		turn++
	}
	for _, a := range all {
		if a.shell != "" {
			a.do = []string{fmt.Sprintf("{shell: %q}", "sh attempts.sh "+quoted(a.name))}
		}
		for _, do := range a.do {
			rule(a.name, do)
		}
	}
	rule(words, "{text: I could not.}")
	return b.String()
}

// results are what the agent's tools said to the model in the job whose prompt holds
// words, in their order: the last request has all of them.
func (e *ended) results(words string) (all []string) {
	e.t.Helper()
	for _, r := range e.sim.Requests() {
		if asks(r, words) && len(r.Results) > len(all) {
			all = r.Results
		}
	}
	return all
}

// asks reports whether a request belongs to the job whose prompt holds words.
func asks(r modelsim.Request, words string) bool {
	return slices.ContainsFunc(r.User, func(text string) bool { return strings.Contains(text, words) })
}

// refusals are words of the kernel for what it refuses.
var refusals = []string{"ermission denied", "not permitted", "EACCES", "EPERM", "ross-device link", "EXDEV", "ead-only file system", "EROFS"}

func refusedByKernel(said string) bool {
	return slices.ContainsFunc(refusals, func(word string) bool { return strings.Contains(said, word) })
}

// denied checks that the kernel refused each attempt: that is what the tool said, and
// what an event says.
func (e *ended) denied(job, words string, all []attempt, event bool) {
	e.t.Helper()
	results, events := e.results(words), e.boundaries(job)
	for _, a := range all {
		said := ""
		for _, r := range results {
			if strings.Contains(r, "("+a.name+": ") {
				said = r
			}
		}
		switch {
		case !refusedByKernel(said) || strings.Contains(said, "("+a.name+": 0)"):
			e.t.Errorf("%s was not refused: %q", a.name, said)
		case event && !strings.Contains(said, "ross-device") && !slices.ContainsFunc(events, func(text string) bool { return strings.Contains(text, "("+a.name+": ") }):
			e.t.Errorf("%s is in no event sandbox_denied; it said %q", a.name, said)
		}
	}
	if e.t.Failed() {
		e.t.Logf("the tools said:\n%s\nthe events:\n%s", strings.Join(results, "\n"), strings.Join(events, "\n"))
	}
}

// boundaries are the texts of the job's events that the sandbox refused something.
func (e *ended) boundaries(job string) (texts []string) {
	e.t.Helper()
	file, err := os.Open(filepath.Join(e.run, ledger.JobPath(job, ledger.EventsFile)))
	ok(e.t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var ev runtime.Event
		ok(e.t, json.Unmarshal(lines.Bytes(), &ev))
		if ev.Kind == runtime.EventBoundary {
			texts = append(texts, ev.Text.Unshown())
		}
	}
	ok(e.t, lines.Err())
	return texts
}

// kept checks that the model was told no nonce by the jobs whose prompts hold one of
// words.
func (e *ended) kept(words ...string) {
	e.t.Helper()
	for _, r := range e.sim.Requests() {
		if len(r.Nonces) > 0 && slices.ContainsFunc(words, func(w string) bool { return asks(r, w) }) {
			e.t.Errorf("the model was told %v, where rule %q answers", r.Nonces, r.Rule)
		}
	}
}
