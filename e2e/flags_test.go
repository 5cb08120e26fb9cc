//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/engine"
	"orchestrate/internal/inventory"
	"orchestrate/internal/runtime"
)

// idle is a scenario for what calls no model.
const idle = `rules: [{do: [{text: "nobody asked"}]}]`

// only leaves one agent installed.
func (l *lab) only(name string) {
	l.t.Helper()
	for _, other := range []string{"claude", "codex"} {
		if other != name {
			ok(l.t, os.Remove(filepath.Join(l.bin, other)))
		}
	}
}

func (l *lab) plan(text string) (p engine.Preview) {
	l.t.Helper()
	l.file("jobs.yaml", text)
	e := l.orchestrate("plan", "--json", filepath.Join(l.base, "jobs.yaml"))
	if err := json.Unmarshal([]byte(e.stdout), &p); err != nil {
		l.t.Fatalf("exit %d: %v\n%s%s", e.exit, err, e.stdout, e.stderr)
	}
	return p
}

// everyFlag is a spec whose jobs ask for everything that the agent's command has
// a flag for.
func everyFlag(t *testing.T, p runtime.Profile) string {
	t.Helper()
	i := slices.IndexFunc(p.Models, func(m runtime.Model) bool { return len(m.Efforts) > 0 })
	if i < 0 {
		t.Fatalf("%s lists no model with efforts: %+v", p.Runtime, p.Models)
	}
	job := oneWriter(p.Runtime, fmt.Sprintf("model: %q", p.Models[i].ID), "effort: "+p.Models[i].Efforts[0])
	if p.Has(runtime.ControlToolLimits) {
		job += "    allowed_tools: [Read, Write, \"Bash(true)\"]\n    disallowed_tools: [Grep]\n"
	}
	if len(p.Agents) > 0 {
		job += "    agent: " + p.Agents[0].Name + "\n"
	}
	return job
}

var flagWord = regexp.MustCompile(`(?:^|\s)'?(--?[a-zA-Z][a-zA-Z-]*)`)

// flagsOf are the long names of a command's flags.
func flagsOf(command string) (flags []string) {
	for _, m := range flagWord.FindAllStringSubmatch(command, -1) {
		if m[1] == "-c" {
			m[1] = "--config"
		}
		if strings.HasPrefix(m[1], "--") {
			flags = append(flags, m[1])
		}
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}

// A wrapper of the real program whose help does not show a flag: the command does
// without it, or the job is blocked and says what to do.
func TestAFlagThatHelpDoesNotShowIsNotUsed(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		l := newQuietLab(t)
		l.only(name)
		l.repository()
		var inv inventory.Inventory
		ok(t, json.Unmarshal([]byte(l.orchestrate("doctor", "--json").wants(0).stdout), &inv))
		p, _ := inv.Get(name)
		text := everyFlag(t, p)
		job := l.plan(text).Jobs[0]
		flags := flagsOf(job.Command)
		if job.Blocked != nil || len(flags) < 7 {
			t.Fatalf("%s: %+v, flags %q of %s", name, job.Blocked, flags, job.Command)
		}
		for _, flag := range flags {
			t.Run(name+" "+flag, func(t *testing.T) { withoutFlag(t, name, flag, text) })
		}
	}
}

func withoutFlag(t *testing.T, name, flag, text string) {
	l := newLab(t, idle, nil)
	l.only(name)
	l.repository()
	real, err := filepath.EvalSymlinks(filepath.Join(l.bin, name))
	ok(t, err)
	ok(t, os.Remove(filepath.Join(l.bin, name)))
	l.file("bin/"+name, fmt.Sprintf(`#!/bin/sh
case " $* " in
*" --help "*) '%[1]s' "$@" | sed 's/%[2]s\([^a-zA-Z-]\|$\)/--renamed\1/g' ;;
*) exec '%[1]s' "$@" ;;
esac
`, real, flag))
	ok(t, os.Chmod(filepath.Join(l.bin, name), 0o700))
	job := l.plan(text).Jobs[0]
	switch {
	case job.Blocked != nil:
		if job.Blocked.Detail == "" || job.Blocked.NextStep == "" {
			t.Errorf("blocked without a word: %+v", job.Blocked)
		}
		t.Logf("blocked by %s: %s; next: %s", job.Blocked.Reason, job.Blocked.Detail, job.Blocked.NextStep)
	case slices.Contains(flagsOf(job.Command), flag):
		t.Errorf("still used: %s", job.Command)
	default:
		t.Log("does without it")
	}
}
