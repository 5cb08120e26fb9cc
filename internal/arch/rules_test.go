package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// module is the path of this module.
const module = "orchestrate"

// pipeline are the rooms that a run passes through; each imports only those to
// its left, and tools.
var pipeline = []string{
	"spec", "graph", "inventory", "policy", "route", "gate", "dispatch", "check", "arbiter", "planner", "report", "integrate", "reclaim", "worker",
}

// tools know nothing of the pipeline. They may use one another.
var tools = []string{
	"runtime", "supervise", "capture", "secret", "workspace", "ledger", "history", "ui", "untrusted", "shellword", "schema", "modelsim", "version", "failpoint", "process", "detach", "sandbox", "figure", "handoff", "skill", "spelling", "pattern", "prompts",
}

// pure rooms decide and touch nothing: no disk, process, network or clock. Every
// decision that the product makes is a table test because of that.
var pure = []string{"graph", "policy", "route", "gate", "arbiter", "planner", "report", "integrate", "reclaim", "pattern", "prompts"}

// startsProcesses are the only packages that may import os/exec. Everything that a
// job, a check or a probe starts goes through supervise; workspace runs git.
var startsProcesses = []string{
	"internal/supervise", "internal/workspace", "internal/detach",
	"internal/inventory",              // finds executables, starts none
	"internal/runtime/standin/script", // plays an agent whose tool starts a child
	"internal/runtime/acp/client",     // is itself what supervise starts; the agent is its child
}

// leanSupervisor is all of this module that the supervisor binary may link.
var leanSupervisor = []string{
	"cmd/orchestrate-supervise", "internal/supervise", "internal/process", "internal/failpoint", "internal/capture", "internal/secret", "internal/version", "internal/sandbox", "internal/untrusted",
	"internal/runtime", "internal/runtime/probe", "internal/runtime/decoders",
	"internal/runtime/claude", "internal/runtime/codex", "internal/runtime/exec", "internal/runtime/standin",
	"internal/runtime/qwen", "internal/runtime/copilot", "internal/runtime/gemini",
	"internal/runtime/opencode", "internal/runtime/commandcode", "internal/runtime/cursor", "internal/runtime/pi", "internal/runtime/acp", "internal/runtime/custom/output",
}

// leanLibraries are what it links of others: raw system calls, and the sandbox's.
var leanLibraries = []string{
	"golang.org/x/sys", "github.com/landlock-lsm/go-landlock", "kernel.org/pub/linux/libs/security/libcap/psx",
}

// vague names say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "misc", "shared", "base"}

// pkg is what the rules look at of a package.
type pkg struct {
	path    string   // relative to the module; full for others
	imports []string // direct, the same way
	std     bool
}

// breaches names every import that goes against the drawing. pkgs are those of
// the module.
func breaches(pkgs []pkg) (all []string) {
	for _, p := range pkgs {
		if slices.Contains(vague, path.Base(p.path)) {
			all = append(all, fmt.Sprintf("%s: name it after what it is about", p.path))
		}
		if strings.HasPrefix(p.path, "internal/") && rank(p.path) == unknown {
			all = append(all, fmt.Sprintf("%s: no room for it in the drawing; give it one in ARCHITECTURE.md and here", p.path))
		}
		for _, to := range p.imports {
			if why := forbidden(p.path, to); why != "" {
				all = append(all, fmt.Sprintf("%s imports %s: %s", p.path, to, why))
			}
		}
	}
	return all
}

// Ranks: a package imports only what has a lower one. Pipeline rooms take those
// between rankSpec and rankEngine, in their order.
const (
	unknown    = -1
	rankTool   = 0
	rankSpec   = 1
	rankEngine = 100
	rankMCP    = 101
	rankCLI    = 102
	rankMain   = 103
)

func rank(p string) int {
	switch {
	case strings.HasPrefix(p, "cmd/"), !strings.HasPrefix(p, "internal/"):
		return rankMain
	case p == "internal/cli":
		return rankCLI
	case p == "internal/mcp":
		return rankMCP
	case p == "internal/engine":
		return rankEngine
	case p == "internal/arch":
		return rankTool
	}
	name := room(p)
	if i := slices.Index(pipeline, name); i >= 0 {
		return rankSpec + i
	}
	if slices.Contains(tools, name) {
		return rankTool
	}
	return unknown
}

// room is the first folder below internal; "" for a package that is not there.
func room(p string) string {
	rest, ok := strings.CutPrefix(p, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// forbidden says why from may not import to; "" = it may.
func forbidden(from, to string) string {
	if slices.Contains(pure, room(from)) && impure(to) {
		return "this room decides and touches nothing; hand it what it needs"
	}
	if to == "os/exec" && strings.HasPrefix(from, "internal/") && !slices.Contains(startsProcesses, from) {
		return "processes are started by supervise, git by workspace"
	}
	if room(to) == "" { // not ours, or schemas that a test library reads
		return ""
	}
	if room(from) == room(to) {
		return ""
	}
	if room(to) == "history" && slices.Contains(pipeline, room(from)) {
		return "what earlier runs came to decides nothing"
	}
	if to == "internal/ui" && rank(from) < rankCLI {
		return "ui follows the ledger; nothing calls it from inside"
	}
	if r := rank(from); r > rankTool && r <= rank(to) || r == rankTool && rank(to) > rankTool {
		return "the arrow points the other way"
	}
	return ""
}

// impure reports whether a package reaches the machine. Nouns of rooms that do are
// fine; what the machine is asked with is not.
func impure(p string) bool {
	for _, root := range []string{"os", "net", "syscall", "io/fs", "io/ioutil", "math/rand", "golang.org/x/sys"} {
		if p == root || strings.HasPrefix(p, root+"/") {
			return true
		}
	}
	return false
}

// overweight names what the supervisor links and should not. deps are all packages
// of its binary.
func overweight(deps []pkg) (all []string) {
	for _, p := range deps {
		switch {
		case slices.Contains(leanSupervisor, p.path), slices.ContainsFunc(leanLibraries, func(l string) bool { return p.path == l || strings.HasPrefix(p.path, l+"/") }):
		case p.path == "net/http":
			all = append(all, "net/http: it costs the supervisor milliseconds to start")
		case !p.std:
			all = append(all, p.path+": the supervisor stays lean")
		}
	}
	return all
}
