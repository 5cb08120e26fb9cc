package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

// toy is an adapter that keeps to everything. Tests spoil it.
type toy struct {
	probe   func(runtime.Profile) runtime.Profile
	trusts  bool // asks for help with the person's keys
	command func(runtime.Request, runtime.Profile, *runtime.Command)
	decoder func() runtime.Decoder
	state   string // below the home folder; "" = .toy
	metered *runtime.Metered
}

func (toy) Name() string        { return "toy" }
func (toy) SignInEnv() []string { return []string{"TOY_API_KEY"} }
func (toy) Shared() bool        { return false }

func (a toy) Metered() runtime.Metered {
	if a.metered != nil {
		return *a.metered
	}
	return runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldAlways}
}

func (a toy) Confinement(getenv func(string) string) runtime.Confinement {
	return runtime.Confinement{State: runtime.Below(runtime.Base(getenv, "", cmp.Or(a.state, ".toy")), ".")}
}

func (a toy) Decoder(runtime.DecoderSpec) runtime.Decoder {
	if a.decoder != nil {
		return a.decoder()
	}
	return &toyDecoder{}
}

func (a toy) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p := a.ask(ctx, host)
	if a.probe != nil {
		p = a.probe(p)
	}
	return p
}

func (a toy) ask(ctx context.Context, host runtime.Host) runtime.Profile {
	id := probe.Identity{Name: "toy", Form: regexp.MustCompile(`^toy (\S+)$`), Install: "get toy"}
	p, asker := probe.Identify(ctx, host, id, nil)
	if asker == nil {
		return p
	}
	p.NextStep = "run toy"
	help := asker.AskBare(ctx, "--help")
	if a.trusts {
		help = asker.Ask(ctx, nil, "--help")
	}
	p.Flags = probe.Flags(string(help.Stdout), "--out=json", "--read-only", "--model", "--session")
	p.Evidence = asker.Evidence()
	for _, flag := range []string{"--out=json", "--read-only"} {
		if why := probe.Trouble("toy --help", help); why != "" || !p.Shows(flag) {
			p.Reason = why + "help does not show " + flag
			return p
		}
	}
	status := asker.Ask(ctx, nil, "status")
	var said struct{ In *bool }
	if probe.Trouble("toy status", status) != "" || !probe.JSON(status.Stdout, &said) || said.In == nil {
		p.Reason = "sign-in is not known"
		return p
	}
	p.SignedIn = said.In
	if !*said.In {
		p.State, p.Reason = runtime.StateUnavailable, "signed out"
		return p
	}
	p.State, p.Reason, p.NextStep = runtime.StateAvailable, "", ""
	p.Controls = []runtime.Control{{Name: runtime.ControlReadOnly, Verified: true, Evidence: p.Flags["--read-only"]}}
	p.Evidence = asker.Evidence()
	return p
}

func (a toy) Command(req runtime.Request, p runtime.Profile) (runtime.Command, error) {
	switch {
	case p.Executable == nil:
		return runtime.Command{}, errors.New("no toy")
	case req.Effort != "" || req.Agent != "" || req.AllowedTools != nil || req.DisallowedTools != nil || req.ReadDirs != nil:
		return runtime.Command{}, errors.New("no means for it")
	case !slices.Contains([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}, req.Access):
		return runtime.Command{}, fmt.Errorf("no access %q", req.Access)
	case req.Resume != "" && !p.Shows("--session"):
		return runtime.Command{}, errors.New("help does not show --session")
	case req.Model != "" && !p.Shows("--model"):
		return runtime.Command{}, errors.New("help does not show --model")
	case !p.Routable():
		return runtime.Command{}, errors.New(p.Reason)
	}
	cmd := runtime.Command{
		Argv: []string{p.Executable.Path, "--out=json"}, Stdin: []byte(req.Prompt), Answer: runtime.AnswerFromStream,
		Decoder: runtime.DecoderSpec{Runtime: "toy"},
	}
	if req.Resume != "" {
		cmd.Argv = append(cmd.Argv, "--session="+req.Resume)
	}
	if req.Model != "" {
		cmd.Argv = append(cmd.Argv, "--model="+req.Model)
	}
	if req.Access == runtime.AccessRead && p.Has(runtime.ControlReadOnly) {
		cmd.Argv = append(cmd.Argv, "--read-only")
		cmd.Controls = []runtime.ControlName{runtime.ControlReadOnly}
	}
	if a.command != nil {
		a.command(req, p, &cmd)
	}
	return cmd, nil
}

// toyDecoder reads lines such as {"type":"done","session":"s","text":"x","usage":{"in":1}}.
type toyDecoder struct{ out runtime.Outcome }

func (d *toyDecoder) Stdout(raw []byte) []runtime.Event {
	var l struct {
		Type, Session, Text string
		Usage               *struct{ In int64 }
	}
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	switch l.Type {
	case "start":
		d.out.SessionID = l.Session
	case "done":
		d.out.Completed, d.out.Answer, d.out.WorkBegun = true, untrusted.From(l.Text), true
		if l.Usage != nil {
			d.out.Usage = &runtime.Usage{InputTokens: new(l.Usage.In)}
		}
		return []runtime.Event{{Kind: runtime.EventComplete}}
	}
	return nil
}

func (d *toyDecoder) Stderr([]byte) []runtime.Event  { return nil }
func (d *toyDecoder) Settle() (runtime.Reason, bool) { return "", false }
func (d *toyDecoder) Outcome() runtime.Outcome       { return d.out }

const toyHelp = "toy does things\n\nOptions:\n  --out <form>  How to print: text or json\n  --read-only   Write nothing\n  --model <m>   Which model\n  --session <s>  Which session\n"

const toyStream = `{"type":"start","session":"s-1"}` + "\n" + `{"type":"done","text":"all good","usage":{"in":7}}` + "\n"

// subject is the toy on a machine of its own, with one recorded attempt.
func subject(t *testing.T, a toy) Subject {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain.out"), []byte(toyStream), 0o600); err != nil {
		t.Fatal(err)
	}
	return Subject{
		Adapter: a,
		Machine: func(*testing.T) *probetest.Host {
			return &probetest.Host{Answers: map[string]runtime.Answer{
				"--version": probetest.Says("toy 1.2"), "--help": probetest.Says(toyHelp), "status": probetest.Says(`{"in":true}`),
			}}
		},
		SignedOut:  func(h *probetest.Host) { h.Answers["status"] = probetest.Says(`{"in":false}`) },
		Streams:    []string{dir},
		Completion: []string{`"done"`},
	}
}

func TestAnAdapterThatKeepsToEverythingPasses(t *testing.T) { Run(t, subject(t, toy{})) }

// spoiled is a decoder that changes what it makes of the stream.
type spoiled struct {
	toyDecoder
	line func(*runtime.Outcome, string)
}

func (d *spoiled) Stdout(raw []byte) []runtime.Event {
	events := d.toyDecoder.Stdout(raw)
	d.line(&d.out, string(raw))
	return events
}

func spoil(line func(*runtime.Outcome, string)) toy {
	return toy{decoder: func() runtime.Decoder { return &spoiled{line: line} }}
}

// Each check finds the fault that it is for.
func TestEachFaultIsFound(t *testing.T) {
	profile := func(change func(*runtime.Profile)) toy {
		return toy{probe: func(p runtime.Profile) runtime.Profile { change(&p); return p }}
	}
	command := func(change func(runtime.Request, runtime.Profile, *runtime.Command)) toy { return toy{command: change} }
	add := func(words ...string) toy {
		return command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Argv = append(c.Argv, words...) })
	}
	cases := []struct {
		check, fault string
		adapter      toy
	}{
		{"probe/works", "a control without evidence", profile(func(p *runtime.Profile) { p.Controls = append(p.Controls, runtime.Control{Name: "x"}) })},
		{"probe/works", "a stranger would get the keys", toy{trusts: true}},
		{"probe/works", "a model listed twice", profile(func(p *runtime.Profile) { p.Models = []runtime.Model{{ID: "m"}, {ID: "m"}} })},
		{"probe/missing", "no next step", profile(func(p *runtime.Profile) { p.NextStep = "" })},
		{"probe/another program", "a stranger is believed", profile(func(p *runtime.Profile) { p.State = runtime.StateAvailable })},
		{"probe/another program", "a verified control of a stranger", profile(func(p *runtime.Profile) {
			p.Controls = []runtime.Control{{Name: runtime.ControlModel, Verified: true}}
		})},
		{"probe/hangs", "signed out by silence", profile(func(p *runtime.Profile) {
			if p.SignedIn == nil {
				p.SignedIn = new(false)
			}
		})},
		{"probe/babbles", "a panic", profile(func(p *runtime.Profile) {
			if strings.Contains(p.Reason, "help does not show") {
				panic("no help")
			}
		})},
		{"probe/babbles", "no state", profile(func(p *runtime.Profile) {
			if p.Reason == "sign-in is not known" {
				p.State = ""
			}
		})},
		{"probe/much help", "help is kept whole", profile(func(p *runtime.Profile) {
			for _, e := range p.Evidence {
				p.Flags[e.Asked] = e.Answer
			}
		})},
		{"probe/signed out", "routable all the same", profile(func(p *runtime.Profile) {
			if p.Reason == "signed out" {
				p.State = runtime.StateConstrained
			}
		})},
		{"command/shape", "another program is started", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Argv[0] = "toy" })},
		{"command/shape", "a stream of nobody", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Decoder.Runtime = "" })},
		{"command/only shown flags", "an undocumented flag", add("--fast")},
		{"command/a flag is gone", "a flag whatever help says", add("--model", "m")},
		{"command/a value is gone", "a value whatever help says", profile(func(p *runtime.Profile) {
			if p.State == runtime.StateUnverified && p.Flags["--read-only"] != "" {
				p.State, p.Reason = runtime.StateAvailable, ""
			}
		})},
		{"command/hostile words", "a word of the request on its own", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Argv = append(c.Argv, r.Resume) })},
		{"command/prompt and secrets", "the prompt as an argument", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Argv = append(c.Argv, r.Prompt) })},
		{"command/prompt and secrets", "the prompt nowhere", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) { c.Stdin = nil })},
		{"command/any prompt", "a word of it is a flag", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Argv, c.Stdin = append(c.Argv, r.Prompt), nil
		})},
		{"command/any prompt", "trimmed", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Stdin = []byte(strings.TrimSpace(r.Prompt))
		})},
		{"command/any prompt", "cut", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Stdin = c.Stdin[:min(len(c.Stdin), 64<<10)]
		})},
		{"command/turns", "said and not given", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) { c.MaxTurns = r.MaxTurns })},
		{"command/turns", "never asked for", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) { c.MaxTurns = 100 })},
		{"command/controls", "a control that nobody verified", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Controls = append(c.Controls, runtime.ControlOSSandbox)
		})},
		{"command/controls", "a writer that says it is read-only", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Controls = []runtime.ControlName{runtime.ControlReadOnly}
		})},
		{"command/sessions", "a new session all the same", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Argv = slices.DeleteFunc(c.Argv, func(word string) bool { return strings.HasPrefix(word, "--session=") })
		})},
		{"command/sessions", "more for a session that goes on", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) {
			if r.Resume != "" {
				c.Controls = nil
			}
		})},
		{"command/no bypass", "a switch for whoever lets the project in", command(func(r runtime.Request, _ runtime.Profile, c *runtime.Command) {
			if r.Project && r.Resume != "" {
				c.Argv = append(c.Argv, "--yolo")
			}
		})},
		{"command/no bypass", "a variable", command(func(_ runtime.Request, _ runtime.Profile, c *runtime.Command) {
			c.Env = append(c.Env, "TOY_ALLOW_ALL=1")
		})},
		{"confinement/its own places", "the whole home", toy{state: "."}},
		{"confinement/its own places", "everybody's settings", toy{state: ".config"}},
		{"decoder/empty", "something from nothing", spoil(func(o *runtime.Outcome, _ string) { o.WorkBegun = true })},
		{"decoder/recorded", "a reason without evidence", spoil(func(o *runtime.Outcome, _ string) { o.ErrorFlag, o.Reason = true, runtime.ReasonCrash })},
		{"decoder/recorded", "an invented session", spoil(func(o *runtime.Outcome, _ string) { o.SessionID = "s-2" })},
		{"decoder/cut anywhere", "done at the first line", spoil(func(o *runtime.Outcome, _ string) { o.Completed = true })},
		{"decoder/without its completion event", "done by any text", spoil(func(o *runtime.Outcome, line string) { o.Completed = strings.Contains(line, "type") })},
		{"decoder/torn and dirty lines", "half a line is an answer", spoil(func(o *runtime.Outcome, line string) { o.Completed = strings.Contains(line, "done") })},
		{"decoder/torn and dirty lines", "another's line counts", spoil(func(o *runtime.Outcome, line string) {
			if strings.Contains(line, "no_such_event") {
				o.Answer = untrusted.From(line)
			}
		})},
		{"decoder/odd fields", "a panic", spoil(func(_ *runtime.Outcome, line string) {
			if strings.Contains(line, `"text":7`) {
				panic("not a text")
			}
		})},
		{"decoder/usage as it says", "a price that it never tells", toy{metered: &runtime.Metered{USD: runtime.ToldAlways, Tokens: runtime.ToldAlways}}},
		{"decoder/usage as it says", "tokens that it tells after all", toy{metered: &runtime.Metered{USD: runtime.ToldNever, Tokens: runtime.ToldNever}}},
		{"decoder/usage as it says", "not a word", toy{metered: &runtime.Metered{}}},
		{"decoder/usage that is not told", "zero for unknown", spoil(func(o *runtime.Outcome, _ string) { o.Usage = &runtime.Usage{} })},
	}
	for _, c := range cases {
		t.Run(c.check+"/"+c.fault, func(t *testing.T) {
			if faults := find(t, c.check, subject(t, c.adapter)); len(faults) == 0 {
				t.Error("nothing is found")
			}
		})
	}
}

// Whatever would take any request is found by what must be refused.
func TestARequestThatIsNotRefusedIsFound(t *testing.T) {
	s := subject(t, toy{})
	s.Adapter = eager{}
	if faults := find(t, "command/refuses the unverified", s); len(faults) < 5 {
		t.Errorf("found only %q", faults)
	}
}

type eager struct{ toy }

func (eager) Command(runtime.Request, runtime.Profile) (runtime.Command, error) {
	return runtime.Command{}, nil
}

func find(t *testing.T, name string, s Subject) []string {
	t.Helper()
	for _, c := range checks() {
		if c.name == name {
			return c.find(t, s)
		}
	}
	t.Fatalf("no check %q", name)
	return nil
}
