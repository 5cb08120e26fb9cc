//go:build linux

// The scripts in testdata/script run the real program, with fake coding agents
// where it needs some, and look at it as a person would.
package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"orchestrate/internal/cli"
	"orchestrate/internal/runtime/decoders"
	"orchestrate/internal/runtime/fakecli"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

// agents are the fakes. They are not on a script's PATH until `agent` puts them
// there, so they are found by the name they are called by.
var agents = map[string]bool{"claude": true, "codex": true}

func TestMain(m *testing.M) {
	if agents[filepath.Base(os.Args[0])] {
		leave(fakecli.Main(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(checked{m}, also(map[string]func(){
		"orchestrate":           func() { os.Exit(cli.OS()) },
		"orchestrate-supervise": superviseMain, // the lean program, as installed beside it
		"alone":                 func() { os.Exit(alone(os.Args[1:])) },
		"hold":                  func() { leave(hold(os.Args[1:])) },
		"raze":                  func() { leave(raze(os.Args[1:])) },
		"say":                   func() { leave(say(os.Args[1:])) },
	}, hardships))
}

// leave ends a program that is no part of what is tested. Unlike os.Exit it does
// not wait for the race detector, which takes a second.
func leave(status int) { syscall.Exit(status) }

// checked runs the tests and then looks for goroutines that they left.
type checked struct{ m *testing.M }

func (c checked) Run() int {
	code := c.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// superviseMain is what cmd/orchestrate-supervise does.
func superviseMain() {
	if len(os.Args) > 1 && sandbox.Hidden(os.Args[1]) {
		os.Exit(sandbox.Main(os.Args[1:]))
	}
	socket := os.NewFile(supervise.ControlFD, "control")
	if err := supervise.Serve(socket, supervise.Options{Version: version.Version, Decoders: decoders.For}); err != nil {
		fmt.Fprintln(os.Stderr, "orchestrate-supervise:", err)
		os.Exit(1)
	}
	leave(0) // its own package's tests watch it for races
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               furnish,
		Condition:           condition,
		Cmds: also(map[string]func(*testscript.TestScript, bool, []string){
			"agent":    agent,
			"repo":     repo,
			"ends":     ends,
			"ran":      ran,
			"job":      job,
			"verdict":  verdict,
			"rules":    rules,
			"json":     jsonValue,
			"files":    files,
			"expand":   expand,
			"await":    await,
			"held":     held,
			"free":     free,
			"clean":    clean,
			"marks":    marks,
			"nosecret": nosecret,

			"state":      state,
			"unhindered": unhindered,
			"atmost":     atMost,

			"inert":  inert,
			"fenced": fenced,

			"published": published,

			"term": term,
			"page": page,

			"holds": holds,
			"taken": taken,
			"block": block,
		}, baddayCommands),
	})
}

// furnish gives a script an empty home and a git without anybody's settings.
func furnish(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // or each program takes a second to end
	return os.Mkdir(home, 0o700)
}
