package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// session is a hosting session with the given agents.
func session(agents ...runtime.Agent) runtime.Profile {
	return runtime.Profile{
		Runtime: runtime.Internal, Kind: runtime.KindInternal, State: runtime.StateConstrained, Agents: agents,
		Limits:   []string{"no sandbox holds it"},
		Controls: []runtime.Control{{Name: runtime.ControlAgent, Verified: true}},
	}
}

// Agents of a session, from the narrowest to the widest.
var (
	reader   = runtime.Agent{Name: "explorer", Description: "Explores code and finds files", Tools: []string{"Read", "Grep"}, Access: runtime.AccessRead}
	worker   = runtime.Agent{Name: "docs-writer", Description: "Writes documentation", Tools: []string{"Read", "Edit"}, Access: runtime.AccessEdit}
	coder    = runtime.Agent{Name: "coder", Description: "Implements features", Tools: []string{"Read", "Edit", "Bash"}, Access: runtime.AccessShell}
	anyone   = runtime.Agent{Name: "anyone", Description: "Takes what comes", Tools: []string{"*"}, General: true}
	silent   = runtime.Agent{Name: "silent"}
	ornament = runtime.Agent{Name: "statusline", Description: "Sets the status line", Tools: []string{"Read", "Edit"}, Access: runtime.AccessEdit}
)

// hostedJob is a job that is pinned to a session of these agents.
func hostedJob(change func(*Input), agents ...runtime.Agent) Input {
	return input(func(in *Input) {
		in.Profiles, in.Job.Runtime = profiles(editor, boxed, session(agents...)), runtime.Internal
		change(in)
	})
}

func task(word string, floor policy.Capability, prompt string) func(*Input) {
	return func(in *Input) { in.Job.Task, in.Tiers.Capability, in.Job.Prompt = word, floor, prompt }
}

func TestTheBestMatchIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want string // agent and how it was found
	}{
		"by name and description": {hostedJob(task("scout", policy.C1, ""), anyone, ornament, reader, worker), "explorer: score 10 (4: its name says explorer; 4: its description says explores, finds; 2: its tools only read"},
		"who reads and answers, of one that takes any task": {hostedJob(task("scout", policy.C1, "What is in this folder?"),
			anyone, runtime.Agent{Name: "helper", Description: "Reads code and answers questions", Tools: []string{"Read"}, Access: runtime.AccessRead}), "helper: score 8 (6: its description says reads, answers, questions"},
		"of two the higher score": {hostedJob(task("research", policy.C1, ""),
			runtime.Agent{Name: "a", Description: "research"}, runtime.Agent{Name: "researcher", Description: "research"}), "researcher: score 6"},
		"alike, by name": {hostedJob(task("scout", policy.C1, ""),
			runtime.Agent{Name: "b", Description: "search"}, runtime.Agent{Name: "a", Description: "search"}), "a: score 2"},
		"by words of the prompt": {hostedJob(task("scout", policy.C1, "Look at the session cache."),
			anyone, runtime.Agent{Name: "x", Description: "Knows session and cache well"}), "x: score 2 (2: its description shares with the prompt: session, cache)"},
		"one common word is none": {hostedJob(task("scout", policy.C1, "Look at the session."),
			anyone, runtime.Agent{Name: "x", Description: "Knows the session"}), "anyone: takes any task, score 0"},
		"a general one after a match, whatever its score": {hostedJob(task("scout", policy.C1, ""),
			runtime.Agent{Name: "scout-all", Description: "scout explore search", General: true}, runtime.Agent{Name: "x", Description: "search"}), "x: score 2"},
		"a general one before none":        {hostedJob(task("scout", policy.C1, ""), ornament, anyone), "anyone: takes any task"},
		"pinned, and nothing better there": {hostedJob(task("scout", policy.C1, ""), ornament), "statusline: nothing that is said of it has to do with the task"},
		"who can edit, for a writer": {hostedJob(func(in *Input) {
			writes(in)
			in.Job.Task, in.Tiers.Capability = "docs", policy.C1
		}, reader, worker, anyone), "docs-writer: score 10"},
	} {
		r, block := Choose(c.in)
		if agent, _, _ := strings.Cut(c.want, ":"); block != nil || r.Runtime != runtime.Internal || r.Agent != agent || !strings.Contains(r.Why, "agent "+c.want) {
			t.Errorf("%s: %s %q, want %q, %+v", name, r.Agent, r.Why, c.want, block)
		}
	}
}

// The same agents in another order are the same choice.
func TestTheOrderInWhichAgentsAreToldDoesNotMatter(t *testing.T) {
	all := []runtime.Agent{reader, worker, coder, anyone, silent, ornament}
	want, _ := Choose(hostedJob(task("research", policy.C1, "compare caches"), all...))
	for range len(all) {
		all = append(all[1:], all[0])
		if r, _ := Choose(hostedJob(task("research", policy.C1, "compare caches"), all...)); r.Agent != want.Agent || r.Why != want.Why {
			t.Errorf("%s, then %s", want.Agent, r.Agent)
		}
	}
}

func TestWhatKeepsAnAgentOfTheSessionFromAJob(t *testing.T) {
	limits := func(tools ...string) func(*Input) {
		return func(in *Input) { in.Job.AllowedTools = append([]string{}, tools...) }
	}
	untrusted := func(in *Input) { in.Tiers.Risk, in.Tiers.RiskWhy = policy.R2, "untrusted input" }
	writesAt := func(risk policy.Risk) func(*Input) {
		return func(in *Input) {
			writes(in)
			in.Tiers.Risk, in.Job.Checks = risk, []spec.Check{{Shell: "true"}}
		}
	}
	for name, c := range map[string]struct {
		in     Input
		reason runtime.Reason
		detail string
	}{
		"a name that is not there":        {hostedJob(func(in *Input) { in.Job.Agent = "explorr" }, reader), runtime.BlockedNoRoute, "agent explorr is not in its live list"},
		"effort":                          {hostedJob(func(in *Input) { in.Job.Effort = "high" }, reader), runtime.BlockedNoRoute, "no way to ask"},
		"another model":                   {hostedJob(func(in *Input) { in.Job.Model = "big" }, runtime.Agent{Name: "a", Model: "small"}), runtime.BlockedNoRoute, "agent a has small"},
		"its floor":                       {hostedJob(task("analysis", policy.C2, ""), reader), runtime.BlockedCapability, "capability is C1"},
		"judgment":                        {hostedJob(task("review", policy.C3, ""), coder, anyone), runtime.BlockedCapability, "capability is C2"},
		"tools beyond those allowed":      {hostedJob(limits("Read"), reader), runtime.BlockedRiskControls, "tools that the job does not allow, and nothing can take them from it: Grep"},
		"tools that are not said":         {hostedJob(limits("Read"), silent), runtime.BlockedRiskControls, "does not say which tools"},
		"all tools":                       {hostedJob(limits("Read"), anyone), runtime.BlockedRiskControls, "all tools of the hosting session"},
		"no tools allowed":                {hostedJob(limits(), reader), runtime.BlockedRiskControls, "Read, Grep"},
		"a disallowed tool":               {hostedJob(func(in *Input) { in.Job.DisallowedTools = []string{"Grep"} }, reader), runtime.BlockedRiskControls, "Grep"},
		"a writer that only reads":        {hostedJob(func(in *Input) { writes(in); in.Tiers.Capability = policy.C1 }, reader), runtime.BlockedRiskControls, "agent explorer only reads"},
		"a writer without tool limits":    {hostedJob(writes, anyone), runtime.BlockedRiskControls, "tools cannot be limited"},
		"a writer in the checkout":        {hostedJob(func(in *Input) { writes(in); in.Job.Isolation = InCheckout }, worker), runtime.BlockedRiskControls, "needs a worktree"},
		"R2, where a sandbox is":          {hostedJob(func(in *Input) { writesAt(policy.R2)(in); in.Sandbox = enforced }, worker), runtime.BlockedRiskControls, "no processes of ours"},
		"R2 of an observer, with a shell": {hostedJob(untrusted, coder), runtime.BlockedRiskControls, "sandbox for its shell"},
		"R3":                              {hostedJob(writesAt(policy.R3), worker), runtime.BlockedRiskControls, "never given to the hosting session"},
		"two outputs of one that reads":   {hostedJob(func(in *Input) { in.Job.Outputs = []spec.Output{{Path: "a"}, {Path: "b"}} }, reader), runtime.BlockedRiskControls, "2 outputs"},
	} {
		_, block := Choose(c.in)
		if block == nil || block.Reason != c.reason || !strings.Contains(block.Detail, c.detail) || block.NextStep == "" {
			t.Errorf("%s: %+v", name, block)
		}
	}
}

// What a route to the session holds is what was said, and its time is no control.
func TestControlsOfTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		in          Input
		controls    string
		access      runtime.Access
		isolation   string
		constrained string // beside the limits of all
	}{
		"reads":                {hostedJob(func(*Input) {}, reader), "capture read-only tool-limits fingerprint", "read", "none", ""},
		"says nothing":         {hostedJob(func(*Input) {}, silent), "capture fingerprint", "read", "none", "what its tools can do is not said"},
		"has all":              {hostedJob(func(*Input) {}, anyone), "capture fingerprint", "read", "none", "its tools give it shell access"},
		"edits, asked to read": {hostedJob(func(*Input) {}, worker), "capture tool-limits fingerprint", "read", "none", "its tools give it edit access"},
		"writes":               {hostedJob(writes, worker), "capture edits-only tool-limits worktree patch owned-paths", "edit", "worktree", ""},
		"writes, with a shell": {hostedJob(writes, coder), "capture tool-limits worktree patch owned-paths", "edit", "worktree", "its tools give it shell access"},
		"a shell that it is given": {
			hostedJob(func(in *Input) { in.Job.AllowedTools = []string{"Read", "Edit", "Bash"} }, coder), "capture tool-limits fingerprint", "shell", "none", "shell not confined",
		},
		"a lie is not believed": {
			hostedJob(func(*Input) {}, runtime.Agent{Name: "liar", Tools: []string{"Read", "MultiEdit"}, Access: runtime.AccessRead}),
			"capture tool-limits fingerprint", "read", "none", "its tools give it edit access",
		},
	} {
		r, block := Choose(c.in)
		said := strings.Join(r.Constrained, "; ")
		if block != nil || strings.Join(r.Controls, " ") != c.controls || r.Access != string(c.access) || r.Isolation != c.isolation || r.Sandbox != "" ||
			!strings.Contains(said, "no sandbox holds it") || !strings.Contains(said, c.constrained) {
			t.Errorf("%s: %q %s %s %q, %+v", name, r.Controls, r.Access, r.Isolation, said, block)
		}
	}
}

func TestModelsOfTheSession(t *testing.T) {
	small := runtime.Agent{Name: "z-small", Model: "small"}
	r, block := Choose(hostedJob(func(in *Input) { in.Job.Model = "small" }, silent, small))
	if block != nil || r.Agent != "z-small" || r.Model != "small" || slices.ContainsFunc(r.Constrained, func(s string) bool { return strings.Contains(s, "verified") }) {
		t.Errorf("the one that has it: %+v, %+v", r, block)
	}
	r, block = Choose(hostedJob(func(in *Input) { in.Job.Model = "small" }, silent))
	if block != nil || r.Model != "small" || !strings.Contains(strings.Join(r.Constrained, ";"), "model small is not verified: the hosting session does not say") {
		t.Errorf("one of which that is not known: %+v, %+v", r, block)
	}
	if r, _ := Choose(hostedJob(func(*Input) {}, small)); r.Model != "" || r.Candidates[0].Model != "small" || r.Candidates[0].Agent != "z-small" {
		t.Errorf("no pin: %+v", r)
	}
}

func TestWhenTheSessionIsAskedFirst(t *testing.T) {
	first := func(change func(*Input), agents ...runtime.Agent) Input {
		return hostedJob(func(in *Input) { in.Job.Runtime, in.Internal = "", true; change(in) }, agents...)
	}
	for name, c := range map[string]struct {
		in        Input
		want, why string
	}{
		"never without a word":   {first(func(in *Input) { in.Internal = false }, reader), "boxed", "chosen by policy, live"},
		"its agents come first":  {first(func(*Input) {}, reader), "internal explorer", "the hosting session's agents come first (--internal), agent explorer: score"},
		"a general one will do":  {first(func(*Input) {}, anyone), "internal anyone", "takes any task"},
		"one that is not for it": {first(func(*Input) {}, ornament), "boxed", "no agent of the hosting session qualifies (internal (agent statusline): nothing that is said of agent statusline has to do with task scout), so chosen by policy"},
		"a named one is taken":   {first(func(in *Input) { in.Job.Agent = "statusline" }, ornament), "internal statusline", "come first"},
		"the floor holds":        {first(task("review", policy.C3, ""), anyone), "boxed", "its capability is C2"},
		"a fallback at the same floors": {
			hostedJob(func(in *Input) { in.Job.Effort, in.Job.Fallbacks = "high", fallbacks("editor") }, reader), "editor", "declared fallback: internal (agent explorer): effort high",
		},
		"a pinned agent does not bind a fallback elsewhere": {
			hostedJob(func(in *Input) {
				in.Job.Agent, in.Job.Effort, in.Job.Fallbacks = "explorer", "high", fallbacks("editor")
			}, reader), "editor ", "declared fallback: internal (agent explorer): effort high",
		},
		"nor one of the session": {
			hostedJob(func(in *Input) {
				in.Job.Runtime, in.Job.Agent, in.Job.Fallbacks = "boxed", "nobody", fallbacks("internal")
			}, reader), "internal explorer", "declared fallback: boxed: agent nobody",
		},
		"as a declared fallback": {
			hostedJob(func(in *Input) { in.Job.Runtime, in.Job.Fallbacks = "nobody", fallbacks("internal") }, reader), "internal explorer", "declared fallback",
		},
		"never as the next best": {
			hostedJob(func(in *Input) { in.Internal = true; in.Job.Runtime, in.Job.Fallbacks = "nobody", fallbacks("") }, reader), "boxed", "declared fallback",
		},
	} {
		r, block := Choose(c.in)
		got := r.Runtime
		if got == runtime.Internal || strings.HasSuffix(c.want, " ") {
			got += " " + r.Agent
		}
		if block != nil || got != c.want || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %q %q, want %q %q, %+v", name, got, r.Why, c.want, c.why, block)
		}
	}
}

func TestASessionIsNeverIndependentOfItself(t *testing.T) {
	op := policy.Operator{Runtimes: map[string]policy.RuntimeRule{runtime.Internal: {Agents: map[string]policy.ModelRule{
		"critic": {Capability: policy.C3, Family: "maker-a"},
	}}}}
	critic := runtime.Agent{Name: "critic", Description: "reviews"}
	for want, p := range map[string]Producer{
		Independent: {Job: "a", Family: "maker-b"},
		"not-independent: job a was done by the same hosting session":  {Job: "a", Family: "maker-b", Hosted: true},
		"not-independent: job a was done by the same family (maker-a)": {Job: "a", Family: "maker-a"},
		"not-independent: the family that did job a is unknown":        {Job: "a"},
	} {
		r, block := Choose(hostedJob(func(in *Input) {
			task("review", policy.C3, "")(in)
			in.Operator, in.Producers = op, []Producer{p}
		}, critic))
		if block != nil || r.Independence != want || r.Capability != "C3" || r.Family != "maker-a" {
			t.Errorf("%+v: %q, %+v", p, r.Independence, block)
		}
	}
}

func TestTheSessionIsNeverTheArbiter(t *testing.T) {
	in := ArbiterInput{Arbiter: spec.Arbiter{Runtime: runtime.Internal}, Dir: "/w", Profiles: profiles(session(anyone), boxed)}
	if _, block := ArbiterRoute(in); block == nil || !strings.Contains(block.Detail, "the hosting session can show none of that") || !strings.Contains(block.NextStep, "arbiter.runtime") {
		t.Errorf("%+v", block)
	}
}

// A session may have hundreds of agents: a record tells of a few, and how many more
// there are.
func TestARecordTellsOfAFewAgents(t *testing.T) {
	var many []runtime.Agent
	for i := range 100 {
		many = append(many, runtime.Agent{Name: fmt.Sprintf("scout-%03d", i)})
	}
	r, _ := Choose(hostedJob(func(*Input) {}, many...))
	last := r.Candidates[len(r.Candidates)-1]
	if r.Agent != "scout-000" || len(r.Candidates) != mostHosted+1 || !strings.Contains(strings.Join(last.Reasons, ";"), "91 more agents of the session come after it") {
		t.Errorf("%s, %d, %+v", r.Agent, len(r.Candidates), last)
	}
	_, block := Choose(hostedJob(func(in *Input) { in.Job.Effort = "high" }, many...))
	if block == nil || strings.Count(block.Detail, "scout-") != mostHosted || !strings.Contains(block.Detail, "92 more agents") {
		t.Errorf("%+v", block)
	}
}

// No sandbox is ever claimed for what is no process of ours.
func TestNoSandboxHoldsTheSession(t *testing.T) {
	if got := SandboxOf(session(reader).OfAgent(reader), runtime.AccessRead, false, sandbox.Level{State: sandbox.Enforced}); got != "" {
		t.Error(got)
	}
}
