package custom_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/custom"
	"orchestrate/internal/runtime/probe/probetest"
)

func definition(t *testing.T, text string) custom.Definition {
	t.Helper()
	var d custom.Definition
	if err := yaml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if problems := d.Problems(); problems != nil {
		t.Fatalf("problems %v", problems)
	}
	return d
}

func described(t *testing.T, text string) runtime.Adapter {
	t.Helper()
	return custom.New("mine", custom.ByOperator, definition(t, text), "/bin/self")
}

const agent = `
argv: [mine, go, --quiet]
output: json-last-line
completion: done=true
answer: text
session: id
model: [--model, "{model}"]
effort: ["--effort={effort}"]
efforts: [low, high]
read_only: [--read-only]
resume: [--resume, "{session}"]
env: [MINE_KEY]
set: {MINE_UPDATES: "off"}
stop: INT
version: {args: [--version], form: '^mine (\d\S*)$'}
help: [--help]
identity: {args: [--help], contains: The Mine}
sign_in: {args: [whoami], ok: '^user ', out: nobody}
model_list: {args: [models]}
install: get mine
sign_in_command: mine login
`

const help = `The Mine, an agent

Options:
  --quiet            say less
  --model <id>       the model
  --effort <level>   how hard to think
  --read-only        write nothing
  --resume <id>      go on
`

func machine() *probetest.Host {
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version": probetest.Says("mine 1.2\n"),
		"--help":    probetest.Says(help),
		"whoami":    probetest.Says("user x\n"),
		"models":    probetest.Says("big  the big one\nsmall\n"),
	}}
}

func TestProbe(t *testing.T) {
	host := machine()
	p := described(t, agent).Probe(context.Background(), host)
	if p.State != runtime.StateConstrained || p.Version != "1.2" || p.SignedIn == nil || !*p.SignedIn || len(p.Models) != 2 || p.Models[0].ID != "big" {
		t.Errorf("profile %+v", p)
	}
	for _, c := range []runtime.ControlName{runtime.ControlModel, runtime.ControlEffort, runtime.ControlReadOnly} {
		if !p.Has(c) || !strings.Contains(p.EvidenceOf(c), "the operator's configuration") || !strings.Contains(p.EvidenceOf(c), "its help shows") {
			t.Errorf("%s: %q", c, p.EvidenceOf(c))
		}
	}
	if p.Has(runtime.ControlToolLimits) || p.DefaultModel != "" || p.Family != "" {
		t.Errorf("more is claimed than was shown: %+v", p)
	}
	if len(host.Asked) != 4 {
		t.Errorf("asked %d questions, want 4: the help once", len(host.Asked))
	}
	for _, q := range host.Asked {
		if !slices.Contains(q.Env, "MINE_UPDATES=off") || q.Stdin != nil {
			t.Errorf("question %+v", q)
		}
	}
}

// Whatever the program answers, the profile says no more than that.
func TestProbeOfAProgramThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*probetest.Host)
		state  runtime.State
		reason string
		next   string
	}{
		"missing":           {func(h *probetest.Host) { h.Missing = true }, runtime.StateUnavailable, "no executable named", "install it: get mine"},
		"another version":   {says("--version", "yours 1"), runtime.StateUnverified, `answered "yours 1"`, "first on PATH"},
		"another program":   {says("--help", "Some agent\n"), runtime.StateUnverified, `lacks "The Mine"`, "first on PATH"},
		"a flag is gone":    {says("--help", probetest.Without(help, "--quiet")), runtime.StateUnavailable, "does not show --quiet", "update the program"},
		"signed out":        {says("whoami", "nobody is user x"), runtime.StateUnavailable, "nobody is signed in", "mine login"},
		"babbles":           {says("whoami", "hello"), runtime.StateUnverified, "not understood", "mine whoami"},
		"hangs":             {answers("whoami", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "mine whoami"},
		"hangs from the go": {answers("--version", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "mine --version"},
	} {
		host := machine()
		c.change(host)
		p := described(t, agent).Probe(context.Background(), host)
		if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
			t.Errorf("%s: %s, %q, next %q", name, p.State, p.Reason, p.NextStep)
		}
	}
}

func says(question, answer string) func(*probetest.Host) {
	return answers(question, probetest.Says(answer))
}

func answers(question string, a runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = a }
}

func TestSignInByStatusAndByVariable(t *testing.T) {
	const bare = "argv: [mine]\noutput: text\n"
	for name, c := range map[string]struct {
		text  string
		code  int
		env   map[string]string
		state runtime.State
		in    string // yes, no, "" = unknown
		limit string
	}{
		"not askable":     {"", 0, nil, runtime.StateConstrained, "", "cannot be asked"},
		"status 0":        {"sign_in: {args: [whoami], exit: true}", 0, nil, runtime.StateConstrained, "yes", ""},
		"status 1":        {"sign_in: {args: [whoami], exit: true}", 1, nil, runtime.StateUnavailable, "no", ""},
		"other failure":   {"sign_in: {args: [whoami], exit: true, out: nobody}", 1, nil, runtime.StateUnverified, "", ""},
		"without the key": {"sign_in: {env: [MINE_KEY]}", 0, nil, runtime.StateUnverified, "", ""},
		"with the key":    {"sign_in: {env: [MINE_KEY]}", 0, map[string]string{"MINE_KEY": "x"}, runtime.StateConstrained, "", "MINE_KEY is set"},
	} {
		host := &probetest.Host{Env: c.env, Answers: map[string]runtime.Answer{"whoami": {ExitCode: c.code, Stdout: []byte("some text")}}}
		a := described(t, bare+c.text)
		p := a.Probe(context.Background(), host)
		in := ""
		if p.SignedIn != nil {
			in = map[bool]string{true: "yes", false: "no"}[*p.SignedIn]
		}
		if p.State != c.state || in != c.in || !strings.Contains(strings.Join(p.Limits, "\n"), c.limit) {
			t.Errorf("%s: %s, signed in %q, limits %q", name, p.State, in, p.Limits)
		}
		if p.State == runtime.StateUnverified && c.env == nil && strings.Contains(c.text, "env") && len(host.Asked) > 0 {
			t.Errorf("%s: it was started all the same: %v", name, host.Asked)
		}
		if !p.Routable() && p.NextStep == "" {
			t.Errorf("%s: no next step", name)
		}
	}
}

func TestCommand(t *testing.T) {
	a := described(t, agent)
	p := a.Probe(context.Background(), machine())
	for name, c := range map[string]struct {
		req  runtime.Request
		want string
	}{
		"read":  {runtime.Request{Access: runtime.AccessRead}, "go --quiet --read-only"},
		"write": {runtime.Request{Access: runtime.AccessEdit}, "go --quiet"},
		"all": {
			runtime.Request{Access: runtime.AccessRead, Model: "big", Effort: "high", Resume: "s-1"},
			"go --quiet --read-only --model big --effort=high --resume s-1",
		},
	} {
		c.req.Prompt = "do it"
		cmd, err := a.Command(c.req, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(cmd.Argv, " "); got != "/opt/fake/bin/mine "+c.want {
			t.Errorf("%s: argv %s", name, got)
		}
		if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "INT" || cmd.Answer != runtime.AnswerFromStream || !slices.Equal(cmd.Env, []string{"MINE_UPDATES=off"}) {
			t.Errorf("%s: command %+v", name, cmd)
		}
		if f := cmd.Decoder.Custom; f == nil || f.Completion != "done=true" || f.Answer != "text" || f.Session != "id" {
			t.Errorf("%s: decoder %+v", name, cmd.Decoder)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	a := described(t, agent)
	p := a.Probe(context.Background(), machine())
	bare := described(t, "argv: [mine]\noutput: text\n")
	for name, c := range map[string]struct {
		a    runtime.Adapter
		req  runtime.Request
		says string
	}{
		"an effort that there is not": {a, runtime.Request{Access: runtime.AccessRead, Effort: "max"}, "low, high"},
		"an agent":                    {a, runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "without a way to ask"},
		"tools":                       {a, runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"Read"}}, "limit its tools"},
		"taking tools away":           {a, runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"Read"}}, "limit its tools"},
		"an unknown access":           {a, runtime.Request{Access: "all"}, "no access"},
		"a model without a way":       {bare, runtime.Request{Access: runtime.AccessRead, Model: "x"}, "no means"},
		"an effort without a way":     {bare, runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "no means"},
		"a session without a way":     {bare, runtime.Request{Access: runtime.AccessRead, Resume: "x"}, "earlier session"},
	} {
		prof := p
		if c.a == bare {
			prof = bare.Probe(context.Background(), machine())
		}
		if _, err := c.a.Command(c.req, prof); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag that a job may get: where the help does not show it, it is not used.
func TestAFlagThatHelpDoesNotShowIsNotUsed(t *testing.T) {
	all := runtime.Request{Access: runtime.AccessRead, Model: "big", Effort: "low", Resume: "s"}
	for _, flag := range []string{"--quiet", "--model", "--effort", "--read-only", "--resume"} {
		host := machine()
		host.Answers["--help"] = probetest.Says(probetest.Without(help, flag))
		a := described(t, agent)
		p := a.Probe(context.Background(), host)
		if cmd, err := a.Command(all, p); err == nil {
			t.Errorf("without %s the command is %v", flag, cmd.Argv)
		} else if p.Routable() && !strings.Contains(err.Error(), flag) {
			t.Errorf("without %s: %v", flag, err)
		}
		if flag == "--quiet" && p.State != runtime.StateUnavailable {
			t.Errorf("without %s: %s", flag, p.State)
		}
	}
}

func TestHowThePromptGoes(t *testing.T) {
	const bare = "argv: [mine, -q]\noutput: text\n"
	for name, c := range map[string]struct {
		text, prompt string
		want         string
		stdin        string
	}{
		"stdin":           {"", "do it", "-q", "do it"},
		"file":            {"prompt: file", "do it", "-q /run/prompt.md", ""},
		"file, flag":      {"prompt: file\nprompt_flag: --file", "do it", "-q --file /run/prompt.md", ""},
		"argument":        {"prompt: arg", "do it", "-q do it", ""},
		"argument, flag":  {"prompt: arg\nprompt_flag: -p", "-do", "-q -p -do", ""},
		"argument joined": {"prompt: arg\nprompt_flag: --prompt=", "do it", "-q --prompt=do it", ""},
	} {
		a := described(t, bare+c.text)
		p := a.Probe(context.Background(), machine())
		cmd, err := a.Command(runtime.Request{Access: runtime.AccessRead, Prompt: c.prompt, PromptFile: "/run/prompt.md"}, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(cmd.Argv[1:], " "); got != c.want || string(cmd.Stdin) != c.stdin {
			t.Errorf("%s: argv %q, stdin %q", name, got, cmd.Stdin)
		}
		if strings.Contains(c.text, "arg") != slices.ContainsFunc(cmd.Limits, func(l string) bool { return strings.Contains(l, "argument") }) {
			t.Errorf("%s: limits %q", name, cmd.Limits)
		}
	}
	a := described(t, bare+"prompt: arg")
	p := a.Probe(context.Background(), machine())
	for _, prompt := range []string{"--danger", strings.Repeat("x", 128<<10)} {
		if _, err := a.Command(runtime.Request{Access: runtime.AccessRead, Prompt: prompt}, p); err == nil {
			t.Errorf("the prompt %.10q became an argument", prompt)
		}
	}
}

func TestAnAgentOfTheProtocol(t *testing.T) {
	const text = "argv: [mine, --acp]\noutput: acp\nsign_in: {session: true}\n"
	live := func(l acp.Live) *probetest.Host {
		line, err := json.Marshal(acp.Line{Type: acp.LineLive, Live: &l})
		if err != nil {
			t.Fatal(err)
		}
		return &probetest.Host{Each: func(q runtime.Question) (runtime.Answer, bool) {
			var turn acp.Turn
			if q.Argv[0] != "/bin/self" || q.Argv[1] != acp.Command {
				return runtime.Answer{}, false
			}
			if err := json.Unmarshal(q.Stdin, &turn); err != nil || !turn.Probe || turn.Prompt != "" || !slices.Equal(turn.Agent, []string{"/opt/fake/bin/mine", "--acp"}) {
				t.Errorf("the turn is %s, %v", q.Stdin, err)
			}
			return runtime.Answer{Stdout: line}, true
		}}
	}
	a := described(t, text)
	p := a.Probe(context.Background(), live(acp.Live{
		AgentVersion: "7", Models: []runtime.Model{{ID: "big", Efforts: []string{"low"}}}, CurrentModel: "big",
	}))
	if p.State != runtime.StateConstrained || p.Version != "7" || p.SignedIn == nil || !*p.SignedIn || p.DefaultModel != "big" || !p.Has(runtime.ControlModel) || !p.Has(runtime.ControlEffort) || p.Has(runtime.ControlReadOnly) {
		t.Errorf("profile %+v", p)
	}
	if len(p.Evidence) != 1 {
		t.Errorf("evidence %+v", p.Evidence)
	}
	cmd, err := a.Command(runtime.Request{Dir: "/w", Prompt: "do it", Access: runtime.AccessRead, Model: "big", Effort: "low", ReadDirs: []string{"/in"}}, p)
	if err != nil {
		t.Fatal(err)
	}
	const turn = `{"agent":["/opt/fake/bin/mine","--acp"],"readDirs":["/in"],"access":"read","model":"big","effort":"low"}`
	if !slices.Equal(cmd.Argv, []string{"/bin/self", acp.Command, turn}) || string(cmd.Stdin) != "do it" || cmd.Decoder.Runtime != acp.DecoderName {
		t.Errorf("command %+v", cmd)
	}

	for name, c := range map[string]struct {
		live  acp.Live
		state runtime.State
		says  string
	}{
		"signed out": {acp.Live{AuthRequired: "log in first"}, runtime.StateUnavailable, "log in first"},
		"broken":     {acp.Live{Error: "no disk"}, runtime.StateUnverified, "no disk"},
	} {
		p := a.Probe(context.Background(), live(c.live))
		if p.State != c.state || !strings.Contains(p.Reason, c.says) {
			t.Errorf("%s: %s, %q", name, p.State, p.Reason)
		}
	}
	if p := a.Probe(context.Background(), &probetest.Host{}); p.State != runtime.StateUnverified || p.Reason == "" {
		t.Errorf("no answer: %s, %q", p.State, p.Reason)
	}
	careful := described(t, text+"mode: ask\n")
	if p := careful.Probe(context.Background(), live(acp.Live{Modes: []acp.Value{{ID: "auto"}}})); p.State != runtime.StateUnverified || !strings.Contains(p.Reason, `"ask"`) {
		t.Errorf("a mode that is not offered: %s, %q", p.State, p.Reason)
	}
	p = careful.Probe(context.Background(), live(acp.Live{Modes: []acp.Value{{ID: "auto"}, {ID: "ask"}}}))
	if cmd, err := careful.Command(runtime.Request{Access: runtime.AccessRead}, p); err != nil || !strings.Contains(cmd.Argv[2], `"mode":"ask"`) {
		t.Errorf("%v, command %q", err, cmd.Argv)
	}
	plain := described(t, "argv: [mine, --acp]\noutput: acp\n")
	if p := plain.Probe(context.Background(), live(acp.Live{})); p.SignedIn != nil || p.State != runtime.StateConstrained || p.Has(runtime.ControlModel) {
		t.Errorf("a session alone shows no sign-in: %+v", p)
	}
}

func TestHowItIsReadAndStopped(t *testing.T) {
	for output, want := range map[string]string{"text": "text", "stream-json": "claude", "acp": "acp"} {
		a := described(t, "argv: [mine]\nstop: none\nstate: [~/.mine]\nsign_in: {env: [MINE_KEY]}\nenv: [MINE_DIR]\noutput: "+output)
		p := runtime.Profile{Executable: &runtime.Executable{Path: "/x/mine"}}
		cmd, err := a.Command(runtime.Request{Access: runtime.AccessRead}, p)
		if err != nil {
			t.Fatal(err)
		}
		stop := ""
		if output == "acp" {
			stop = "TERM" // of our own client
		}
		if cmd.Decoder.Runtime != want || cmd.PoliteStop != stop || a.Decoder(cmd.Decoder) == nil {
			t.Errorf("%s: %+v", output, cmd)
		}
		if !a.Shared() || !slices.Equal(a.SignInEnv(), []string{"MINE_DIR", "MINE_KEY"}) {
			t.Errorf("%s: shared %v, variables %q", output, a.Shared(), a.SignInEnv())
		}
	}
	if described(t, "argv: [mine]\noutput: text").Shared() {
		t.Error("a program without state is spaced")
	}
}

func TestProblemsComeAllTogether(t *testing.T) {
	for text, want := range map[string][]string{
		"{}":                                   {"argv", "output"},
		"argv: [../x]\noutput: text":           {"argv"},
		"argv: [x, --yolo]\noutput: text":      {"argv"},
		"argv: [x]\noutput: xml\nprompt: mail": {"prompt", "output"},
		"argv: [x]\noutput: text\ncompletion: a=b\nanswer: y":                                      {"completion", "answer"},
		"argv: [x]\noutput: json-last-line":                                                        {"completion", "answer"},
		"argv: [x]\noutput: json-last-line\ncompletion: done\nanswer: a..b":                        {"completion", "answer"},
		"argv: [x]\noutput: acp\nprompt: arg\nmodel: [-m, '{model}']\nmodel_list: {args: [m]}":     {"prompt", "model", "model_list"},
		"argv: [x]\noutput: text\nprompt_flag: -p\nmodel: [-m]\nefforts: [low]":                    {"prompt_flag", "model", "efforts"},
		"argv: [x]\noutput: text\nresume: [-r, '{session}']":                                       {"resume"},
		"argv: [x]\noutput: text\nenv: [A-B]\nset: {'A B': c}\nstate: [x]\nstop: HUP":              {"env", "set", "state", "stop"},
		"argv: [x]\noutput: text\nstate: [~/.x, ~/, /]\ncredentials: [~/../x]":                     {"state", "state", "credentials"},
		"argv: [x]\noutput: text\nversion: {form: '('}\nidentity: {}\nmodel_list: {}":              {"version.args", "version.form", "identity.args", "identity.contains", "model_list.args"},
		"argv: [x]\noutput: acp\nmode: YOLO":                                                       {"mode"},
		"argv: [x]\noutput: text\nmode: ask":                                                       {"mode"},
		"argv: [x]\noutput: text\nsign_in: {}":                                                     {"sign_in"},
		"argv: [x]\noutput: text\nsign_in: {args: [a], session: true, env: ['A*']}":                {"sign_in.args", "sign_in.session", "sign_in.env"},
		"argv: [x]\noutput: text\nsign_in: {ok: '('}":                                              {"sign_in.ok", "sign_in.args"},
		"argv: [x]\noutput: json-last-line\ncompletion: exit-zero\nanswer: a\nrefused: {tool: t}":  {},
		"argv: [x]\noutput: json-last-line\ncompletion: exit-zero\nanswer: a\nrefused: {field: t}": {"refused"},
	} {
		var d custom.Definition
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range d.Problems() {
			got = append(got, p.Field)
			if p.Text == "" {
				t.Errorf("%s: nothing is said about %s", text, p.Field)
			}
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s\nproblems %q, want %q", text, got, want)
		}
	}
}

// The descriptions that come with this program against what the real programs print.
func TestKnown(t *testing.T) {
	for name, c := range map[string]struct {
		version, help string // recorded
		want          string
		env           map[string]string
		answers       map[string]runtime.Answer
		command       string
	}{
		"cline": {"3.0.65", "cline.txt", "3.0.65", nil, nil, "cline --json --model m --thinking low -- do it"},
		"auggie": {
			"0.36.0 (commit 7c61e5bb)", "auggie.txt", "0.36.0", nil,
			map[string]runtime.Answer{"account": {ExitCode: 1, Stderr: []byte("You are not currently logged in to Augment.\n")}},
			"",
		},
		"amp": {
			"0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 2mo ago)", "amp.txt", "0.0.1790142911-g7618fb",
			map[string]string{"AMP_API_KEY": "x"},
			nil, "amp --execute --stream-json --no-ide",
		},
		"crush": {
			"crush version devel", "crush.txt", "devel", nil,
			map[string]runtime.Answer{"models": probetest.Says("maker/one\nmaker/m\n")},
			"crush run -q -m m",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := custom.Known()[name]
			if problems := d.Problems(); problems != nil {
				t.Fatalf("problems %v", problems)
			}
			text, err := os.ReadFile(filepath.Join("testdata", "help", c.help))
			if err != nil {
				t.Fatal(err)
			}
			host := &probetest.Host{Env: c.env, Answers: map[string]runtime.Answer{
				"--version": probetest.Says(c.version), strings.Join(d.Help, " "): probetest.Says(string(text)),
			}}
			for question, answer := range c.answers {
				host.Answers[question] = answer
			}
			a := custom.New(name, custom.Shipped, d, "/bin/self")
			p := a.Probe(context.Background(), host)
			if p.Version != c.want {
				t.Errorf("version %q: %s", p.Version, p.Reason)
			}
			if p.State == runtime.StateAvailable || p.Has(runtime.ControlReadOnly) || p.Has(runtime.ControlToolLimits) {
				t.Errorf("more is claimed than was shown: %+v", p)
			}
			if c.command == "" {
				if p.SignedIn == nil || *p.SignedIn || p.State != runtime.StateUnavailable || !strings.Contains(p.NextStep, d.SignInCommand) {
					t.Errorf("signed out, it is %s: %s; next %s", p.State, p.Reason, p.NextStep)
				}
				return
			}
			if p.State != runtime.StateConstrained {
				t.Fatalf("%s: %s", p.State, p.Reason)
			}
			req := runtime.Request{Access: runtime.AccessRead, Prompt: "do it"}
			if len(d.ModelArgs) > 0 {
				req.Model = "m"
			}
			if len(d.Efforts) > 0 {
				req.Effort = d.Efforts[0]
			}
			cmd, err := a.Command(req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(strings.Join(cmd.Argv, " "), probetest.Path); got != c.command {
				t.Errorf("command %s, want %s", got, c.command)
			}
		})
	}
}

// Without its key it waits for a person, so it is not started at all.
func TestAmpIsNotAskedWithoutItsKey(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "help", "amp.txt"))
	if err != nil {
		t.Fatal(err)
	}
	host := &probetest.Host{Answers: map[string]runtime.Answer{
		"--version": probetest.Says("0.0.1-g1 (released x)"), "--help": probetest.Says(string(text)),
	}}
	p := custom.New("amp", custom.Shipped, custom.Known()["amp"], "/bin/self").Probe(context.Background(), host)
	if p.Routable() || p.SignedIn != nil || !strings.Contains(p.Reason, "AMP_API_KEY") || len(host.Asked) != 2 {
		t.Errorf("%s: %s; asked %v", p.State, p.Reason, host.Asked)
	}
}

// What the sandbox opens and closes for a described program is what its description says.
func TestConfinementOfADescribedProgram(t *testing.T) {
	d := custom.Definition{State: []string{"~/.x", "/var/x/"}, Credentials: []string{"~/.x/key"}}
	c, ok := custom.New("x", custom.ByOperator, d, "/self").(runtime.Confined)
	if !ok {
		t.Fatal("it says nothing of its files")
	}
	got := c.Confinement(func(name string) string { return map[string]string{"HOME": "/h"}[name] })
	if !slices.Equal(got.State, []string{"/h/.x", "/var/x"}) || !slices.Equal(got.Credentials, []string{"/h/.x/key"}) {
		t.Errorf("%+v", got)
	}
}

func TestWhoApprovesEverythingSaysSo(t *testing.T) {
	for name, rash := range map[string]bool{"cline": true, "crush": true, "auggie": false, "amp": false} {
		if got := custom.Known()[name].ApprovesAll; got != rash {
			t.Errorf("%s approves everything: %t", name, got)
		}
	}
}
