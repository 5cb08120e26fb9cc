//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
)

const (
	many     = 1000 // jobs of the flat and the wide graph
	links    = 300  // of the chain
	aProgram = "/bin/true"
)

// step is one job of a generated graph.
type step struct {
	id   string
	deps []string
}

func flat(n int) (all []step) {
	for i := range n {
		all = append(all, step{id: fmt.Sprint("j", i)})
	}
	return all
}

// wide is ten stages in which every job depends on all of the stage before.
func wide() (all []step) {
	var before []string
	for s := range 10 {
		var now []string
		for i := range many / 10 {
			id := fmt.Sprintf("s%dj%d", s, i)
			all = append(all, step{id, before})
			now = append(now, id)
		}
		before = now
	}
	return all
}

func chain() (all []step) {
	for i := range links {
		s := step{id: fmt.Sprint("j", i)}
		if i > 0 {
			s.deps = []string{fmt.Sprint("j", i-1)}
		}
		all = append(all, s)
	}
	return all
}

// jobs measures many small jobs, one table for each place.
func jobs(b *bench) (tables []table, err error) {
	for _, place := range b.places {
		var all []command
		for _, j := range []int{2, 8} {
			all = append(all, b.flatCommands(j)...)
		}
		all = append(all, b.graphCommands()...)
		samples, err := b.rounds(place, all)
		if err != nil {
			return nil, err
		}
		where := fileSystem(place)
		for _, j := range []int{2, 8} {
			tables = append(tables, flatTable(samples, where, j))
		}
		tables = append(tables, graphTable(samples, where), shareTable(samples, where))
	}
	return tables, nil
}

// at names a command at a concurrency.
func at(what string, j int) string { return fmt.Sprintf("%s, %d at a time", what, j) }

func (b *bench) flatCommands(j int) []command {
	n, at := fmt.Sprint(many), func(what string) string { return at(what, j) }
	all := []command{
		{name: at("fork/exec"), units: many, argv: []string{b.self, "floor", "-n", n, "-j", fmt.Sprint(j), aProgram}},
		{name: at("fork/exec and 3 files"), units: many, argv: []string{b.self, "floor", "-n", n, "-j", fmt.Sprint(j), "-dir", "o", aProgram}},
		b.orchestrate(at("orchestrate"), flat(many), j),
		makeCommand(at("make"), flat(many), j),
		xargs(at("xargs"), j),
	}
	if installed("parallel") {
		all = append(all, gnuParallel(at("parallel --results"), j))
	}
	if b.hasTask() {
		all = append(all, b.task(at("go-task"), flat(many), j))
	}
	return all
}

func (b *bench) graphCommands() []command {
	all := []command{
		b.orchestrate(at("orchestrate wide", 2), wide(), 2),
		b.orchestrate(at("orchestrate wide", 8), wide(), 8),
		makeCommand(at("make wide", 8), wide(), 8),
		b.orchestrate("orchestrate chain", chain(), 2),
		b.orchestrate("orchestrate flat, 300 jobs", flat(links), 2),
		makeCommand("make chain", chain(), 2),
		{name: "fork/exec and 3 files, 300 in a row", units: links, argv: []string{b.self, "floor", "-n", fmt.Sprint(links), "-j", "1", "-dir", "o", aProgram}},
	}
	if b.hasTask() {
		all = append(all, b.task("go-task chain", chain(), 2))
		if b.slow {
			slow := b.task(at("go-task wide", 8), wide(), 8)
			slow.once = true
			all = append(all, slow)
		}
	}
	return all
}

// orchestrate runs the steps as a spec and looks at the evidence afterwards.
func (b *bench) orchestrate(name string, steps []step, j int) command {
	var s strings.Builder
	fmt.Fprintf(&s, "version: 1\nconcurrency: %d\narbiter: {mode: checks-only}\n", j)
	fmt.Fprintf(&s, "defaults: {runtime: exec, effect: observe, command: [%s], timeout: 1m, expected_output: nothing}\njobs:\n", aProgram)
	for _, st := range steps {
		fmt.Fprintf(&s, "- id: %s\n", st.id)
		if len(st.deps) > 0 {
			fmt.Fprintf(&s, "  depends_on: [%s]\n", strings.Join(st.deps, ", "))
		}
	}
	return command{
		name: name, units: len(steps), argv: []string{filepath.Join(b.bin, "orchestrate"), "run", "spec.yaml"}, run: true,
		prepare: file("spec.yaml", s.String()),
		verify:  func(dir string) error { return verifyRun(dir, len(steps)) },
	}
}

// verifyRun holds the run directory against what full evidence means.
func verifyRun(dir string, n int) error {
	run, err := runDir(dir)
	if err != nil {
		return err
	}
	var state struct{ Jobs []struct{ ID, Status string } }
	data, err := os.ReadFile(filepath.Join(run, ledger.StateFile))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return err
	}
	if len(state.Jobs) != n {
		return fmt.Errorf("%d jobs in %s, expected %d", len(state.Jobs), run, n)
	}
	for _, j := range state.Jobs {
		if j.Status != "success" {
			return fmt.Errorf("job %s in %s is %s", j.ID, run, j.Status)
		}
		for _, name := range []string{"status.json", "exit.json", "events.jsonl", "command.txt", "stdout.txt", "stderr.txt", "output.md"} {
			if _, err := os.Stat(filepath.Join(run, j.ID, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func file(name, text string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

func makeCommand(name string, steps []step, j int) command {
	var s strings.Builder
	s.WriteString("all:")
	for _, st := range steps {
		s.WriteString(" " + st.id)
	}
	for _, st := range steps {
		fmt.Fprintf(&s, "\n%s: %s\n\t@%s > $@ 2> $@.err", st.id, strings.Join(st.deps, " "), aProgram)
	}
	s.WriteByte('\n')
	return command{
		name: name, units: len(steps), argv: []string{"make", "-s", "-O", fmt.Sprint("-j", j)},
		prepare: file("Makefile", s.String()), verify: outputs(len(steps), "*.err"),
	}
}

func xargs(name string, j int) command {
	script := fmt.Sprintf("seq %d | xargs -P%d -I{} sh -c 'exec %s >{} 2>{}.err'", many, j, aProgram)
	return command{name: name, units: many, argv: []string{"sh", "-c", script}, verify: outputs(many, "*.err")}
}

func gnuParallel(name string, j int) command {
	argv := []string{"parallel", "--will-cite", fmt.Sprint("-j", j), "--results", "res", "--joblog", "joblog", aProgram, "{}", ":::"}
	for i := range many {
		argv = append(argv, fmt.Sprint(i))
	}
	return command{name: name, units: many, argv: argv, verify: outputs(many, "res/1/*/stdout")}
}

func (b *bench) task(name string, steps []step, j int) command {
	var s strings.Builder
	s.WriteString("version: '3'\noutput: group\nsilent: true\ntasks:\n  default:\n    deps:\n")
	for _, st := range steps {
		fmt.Fprintf(&s, "    - %s\n", st.id)
	}
	for _, st := range steps {
		fmt.Fprintf(&s, "  %s:\n    run: once\n    deps: [%s]\n    cmds: ['%s > %s 2> %s.err']\n", st.id, strings.Join(st.deps, ", "), aProgram, st.id, st.id)
	}
	return command{
		name: name, units: len(steps), argv: []string{filepath.Join(b.bin, "task"), "-C", fmt.Sprint(j)},
		prepare: file("Taskfile.yml", s.String()), verify: outputs(len(steps), "*.err"),
	}
}

// outputs expects as many files as there were jobs.
func outputs(n int, pattern string) func(string) error {
	return func(dir string) error {
		got, err := filepath.Glob(filepath.Join(dir, pattern))
		if err == nil && len(got) != n {
			err = fmt.Errorf("%d files %s in %s, expected %d", len(got), pattern, dir, n)
		}
		return err
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func (b *bench) hasTask() bool {
	_, err := os.Stat(filepath.Join(b.bin, "task"))
	return err == nil
}
