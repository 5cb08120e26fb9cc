//go:build linux

package supervise_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// The test binary is also the supervisor, the engine that gets killed and the
// programs that the shell has no words for.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			os.Exit(role(os.Args[2:]))
		}
	}
	// Whatever a test leaves behind becomes our child, and is seen below.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // these tests mostly wait
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if left := children(); left != "" {
		fmt.Fprintln(os.Stderr, "processes left behind:", left)
		code = 1
	}
	os.Exit(code)
}

var roles = map[string]func([]string) int{
	"supervise":          supervisorRole,
	"plain":              func([]string) int { return serve(supervise.Options{Version: version, NoCgroup: true}) },
	"wrong":              wrongVersionRole,
	"mute":               func([]string) int { return 7 },
	"engine":             engineRole,
	"daemon":             daemonRole,
	"trick":              trickRole,
	sandbox.Command:      confineRole,
	sandbox.TrialCommand: func(args []string) int { return sandbox.Main(append([]string{sandbox.TrialCommand}, args...)) },
	"ender":              enderRole,
}

// confineRole confines itself, unless a test wants that to go wrong.
func confineRole(args []string) int {
	if filepath.Base(os.Args[0]) == "loose" { // says that it is held and is not
		unix.CloseOnExec(sandbox.PolicyFD)
		unix.CloseOnExec(sandbox.TroubleFD)
		os.NewFile(sandbox.TroubleFD, "trouble").Write([]byte{sandbox.Confined})
		syscall.Exec(args[0], args[1:], os.Environ())
		return 1
	}
	switch trouble := os.Getenv("CONFINE"); trouble {
	case "":
		return sandbox.Main(append([]string{sandbox.Command}, args...))
	case "dies":
		return 1
	default:
		os.NewFile(sandbox.TroubleFD, "trouble").WriteString(trouble)
		return 1
	}
}

const version = "test"

// supervisor is the command that starts a supervisor out of the test binary.
func supervisor(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "supervise"}
}

func supervisorRole([]string) int { return serve(supervise.Options{Version: version}) }

func wrongVersionRole([]string) int { return serve(supervise.Options{Version: "other"}) }

func serve(opt supervise.Options) int {
	opt.Decoders = decoderFor
	err := supervise.Serve(os.NewFile(supervise.ControlFD, "control"), opt)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// daemonRole starts `sleep 600` twice removed from its parent, in a session of its
// own, which keeps the streams open, and returns at once.
func daemonRole(args []string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	cmd := exec.Command("sh", "-c", "exec 9>>"+args[0]+"; flock -n 9; sleep 600")
	if len(args) == 1 {
		cmd = exec.Command(self, "daemon", args[0], "inner")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 1
	}
	return 0
}

// children names what still descends from the test process.
func children() string {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if errors.Is(err, unix.ECHILD) {
		return ""
	}
	var names []string
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		pids, _ := os.ReadFile(task)
		for _, pid := range strings.Fields(string(pids)) {
			stat, _ := os.ReadFile("/proc/" + pid + "/stat")
			names = append(names, string(stat))
		}
	}
	return strings.Join(names, "; ")
}

// wordDecoder is a runtime's decoder in small: each line is a word with a meaning.
type wordDecoder struct {
	out    runtime.Outcome
	settle bool
	blind  bool
}

func decoderFor(spec runtime.DecoderSpec) (runtime.Decoder, error) {
	switch spec.Runtime {
	case "", "exec":
		return nil, nil
	case "words":
		return &wordDecoder{}, nil
	case "blind":
		return &wordDecoder{blind: true}, nil
	case "pieces":
		return &pieceDecoder{}, nil
	}
	return nil, fmt.Errorf("no decoder for runtime %q", spec.Runtime)
}

func (d *wordDecoder) LineBlind() bool { return d.blind }

func (d *wordDecoder) Stdout(line []byte) []runtime.Event {
	word, rest, _ := strings.Cut(string(line), " ")
	switch word {
	case "say":
		d.out.WorkBegun = true
		return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(rest)}}
	case "answer":
		d.out.Answer, d.out.Completed = untrusted.From(rest), true
		return []runtime.Event{{Kind: runtime.EventAnswer, Text: untrusted.From(rest)}, {Kind: runtime.EventComplete}}
	case "hopeless":
		d.settle = true
		d.out.Reason, d.out.Evidence, d.out.ErrorFlag = runtime.ReasonAuth, untrusted.From(rest), true
	case "panic":
		panic("a bug in the decoder")
	}
	return nil
}

func (d *wordDecoder) Stderr(line []byte) []runtime.Event {
	return []runtime.Event{{Kind: runtime.EventWarning, Text: untrusted.From(string(line))}}
}

func (d *wordDecoder) Settle() (runtime.Reason, bool) { return d.out.Reason, d.settle }

func (d *wordDecoder) Outcome() runtime.Outcome { return d.out }
