package policy

import (
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// done is an attempt in which all went well; each case changes what it is about.
func done(change func(*Facts)) Facts {
	f := Facts{Answer: untrusted.From("done"), Exit: supervise.Exit{
		ExitCode: new(int), DurationMs: 1500,
		Outcome: runtime.Outcome{Completed: true, Answer: untrusted.From("done"), SessionID: "s", WorkBegun: true},
	}}
	change(&f)
	return f
}

// hosted is the end of what the hosting session carried out.
func hosted(f *Facts) { f.Session, f.Exit.ExitCode = true, nil }

func exit(code int) func(*Facts) {
	return func(f *Facts) { f.Exit.ExitCode = &code }
}

func stderr(text string) func(*Facts) {
	return func(f *Facts) { f.Stderr = untrusted.From(text) }
}

func flag(reason runtime.Reason) func(*Facts) {
	return func(f *Facts) {
		f.Exit.Outcome.ErrorFlag, f.Exit.Outcome.Reason, f.Exit.Outcome.Evidence = true, reason, untrusted.From("it said so")
	}
}

func says(reason runtime.Reason, text string) func(*Facts) {
	return all(exit(1), flag(reason), func(f *Facts) { f.Exit.Outcome.Evidence = untrusted.From(text) })
}

func all(changes ...func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		for _, c := range changes {
			c(f)
		}
	}
}

func stop(s supervise.Stop) func(*Facts) {
	return func(f *Facts) {
		f.Exit.Stop, f.Exit.ExitCode, f.Exit.Signal = s, nil, "KILL"
		f.Exit.Outcome.Completed = false
	}
}

func denial(f *Facts) {
	f.Exit.Outcome.Denials = []runtime.Denial{{Tool: "Write", Boundary: untrusted.From("/etc/x is outside the working folder")}}
}

func uncompletedExit(code int) func(*Facts) {
	return all(exit(code), func(f *Facts) { f.Exit.Outcome = runtime.Outcome{Evidence: untrusted.From("its last line")} })
}

func resumed(from, reported string) func(*Facts) {
	return func(f *Facts) { f.Resumed, f.Exit.Outcome.SessionID = from, reported }
}

func program(code int) func(*Facts) {
	return all(exit(code), func(f *Facts) {
		f.Exec, f.Answer, f.Exit.Outcome = true, untrusted.Text{}, runtime.Outcome{WorkBegun: true}
	})
}

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*Facts)
		reason   runtime.Reason
		evidence string
	}{
		// The four combinations of exit status and error flag.
		"exit 0, no flag": {exit(0), "", ""},
		"exit 0, flag":    {all(exit(0), flag(runtime.ReasonRateLimit)), runtime.ReasonRateLimit, "it said so"},
		"exit 1, no flag": {exit(1), runtime.ReasonCrash, "completed without its error flag, but exit status 1"},
		"exit 1, flag":    {all(exit(1), flag(runtime.ReasonAuth)), runtime.ReasonAuth, "it said so"},

		"a limit of the minute":    {says(runtime.ReasonRateLimit, "Rate limit reached for requests. Please try again in 20s."), runtime.ReasonRateLimit, "Rate limit reached"},
		"a limit of the plan":      {says(runtime.ReasonRateLimit, "You've hit your limit · resets 3am (Europe/Berlin)"), runtime.ReasonQuota, "hit your limit"},
		"a limit of the week":      {says(runtime.ReasonRateLimit, "You've hit your weekly limit · resets Oct 28, 5pm"), runtime.ReasonQuota, "weekly limit"},
		"a limit without a class":  {says(runtime.ReasonCrash, "limit reached, resets 21:20"), runtime.ReasonQuota, "resets 21:20"},
		"no limit of a plan":       {says(runtime.ReasonCrash, "stack limit reached"), runtime.ReasonCrash, "stack limit"},
		"flag without a class":     {flag(""), runtime.ReasonCrash, "it said so"},
		"our signal after the end": {all(stop(supervise.StopSettled), flag(runtime.ReasonAuth)), runtime.ReasonAuth, "it said so"},
		"killed by someone":        {func(f *Facts) { f.Exit.ExitCode, f.Exit.Signal = nil, "KILL" }, runtime.ReasonCrash, "signal KILL"},

		"no completion, exit 0":                  {uncompletedExit(0), runtime.ReasonNoCompletion, "exit status 0; its last line"},
		"no completion, exit 1":                  {uncompletedExit(1), runtime.ReasonNoCompletion, "exit status 1"},
		"usage error":                            {uncompletedExit(2), runtime.ReasonCrash, "usage error: exit status 2; its last line"},
		"a class without the flag":               {all(uncompletedExit(1), func(f *Facts) { f.Exit.Outcome.Reason = runtime.ReasonUnknownFlag }), runtime.ReasonUnknownFlag, "its last line"},
		"torn config":                            {all(uncompletedExit(1), stderr("hello\nClaude configuration file at /h/.x.json is corrupted: JSON Parse error: Unterminated string\n")), runtime.ReasonCrash, "could not read, as when another start writes it: Claude configuration file at /h/.x.json is corrupted"},
		"torn settings":                          {all(uncompletedExit(52), stderr("Error in /h/.x/settings.json: Expected property name or '}' in JSON at position 15")), runtime.ReasonCrash, "settings.json: Expected property name"},
		"torn config, session there":             {all(uncompletedExit(1), stderr("config.toml: parse error"), func(f *Facts) { f.Exit.Outcome.SessionID = "s" }), runtime.ReasonNoCompletion, "exit status 1"},
		"torn config, exit 0":                    {all(uncompletedExit(0), stderr("config.toml: parse error")), runtime.ReasonNoCompletion, "exit status 0"},
		"talk of a config":                       {all(uncompletedExit(1), stderr("reading config\nparse tree printed")), runtime.ReasonNoCompletion, "exit status 1"},
		"exit 2 after work began":                {all(uncompletedExit(2), func(f *Facts) { f.Exit.Outcome.WorkBegun = true }), runtime.ReasonNoCompletion, "exit status 2"},
		"could not be started":                   {func(f *Facts) { f.Exit = supervise.Exit{SpawnError: "no such file"} }, runtime.ReasonSpawn, "no such file"},
		"the supervisor failed":                  {func(f *Facts) { f.Lost, f.Unproven = "it ended", true }, runtime.ReasonCrash, "the supervisor failed: it ended"},
		"refused, exit 0":                        {denial, runtime.ReasonPermission, "Write refused: /etc/x is outside the working folder"},
		"refused, then timeout":                  {all(stop(supervise.StopTimeout), denial), runtime.ReasonPermission, "Write refused"},
		"refused, with a flag":                   {all(denial, flag(runtime.ReasonCrash)), runtime.ReasonPermission, "Write refused"},
		"timeout":                                {stop(supervise.StopTimeout), runtime.ReasonTimeout, "after 1500 ms"},
		"timeout, flag by our stop":              {all(stop(supervise.StopTimeout), flag(runtime.ReasonCrash)), runtime.ReasonTimeout, "the last it said: it said so"},
		"no first output":                        {stop(supervise.StopFirstOutput), runtime.ReasonFirstOutput, "first_output_timeout"},
		"over the budget":                        {all(stop(supervise.StopCancelled), func(f *Facts) { f.Budget = "wall 2h" }), runtime.ReasonBudget, "wall 2h"},
		"hopeless, no class":                     {all(stop(supervise.StopSettled)), runtime.ReasonCrash, "signal KILL"},
		"another model answered":                 {func(f *Facts) { f.Pin, f.Exit.Outcome.ObservedModel = "a", "b" }, runtime.ReasonModelMismatch, `asked for model "a", "b" answered`},
		"the model cannot be seen":               {func(f *Facts) { f.Pin = "a" }, "", ""},
		"empty answer":                           {func(f *Facts) { f.Answer = untrusted.From(" \n") }, runtime.ReasonEmptyOutput, "empty final answer"},
		"output missing":                         {func(f *Facts) { f.MissingOutputs = []string{"report.md: missing"} }, runtime.ReasonMissingOutput, "report.md: missing"},
		"check failed":                           {func(f *Facts) { f.FailedChecks = []string{"go test"} }, runtime.ReasonCheckFailed, "go test"},
		"outside its paths":                      {func(f *Facts) { f.Ownership, f.FailedChecks = []string{"x"}, []string{"y"} }, runtime.ReasonOwnership, "x"},
		"observer that wrote":                    {func(f *Facts) { f.WroteObserving = []string{"x"} }, runtime.ReasonWroteObserving, "x"},
		"the session, no exit status":            {hosted, "", ""},
		"the session, it failed":                 {all(hosted, flag(runtime.ReasonSessionFailed)), runtime.ReasonSessionFailed, "it said so"},
		"the session, nothing said":              {all(hosted, func(f *Facts) { f.Answer = untrusted.Text{} }), runtime.ReasonEmptyOutput, "empty"},
		"the session, too late":                  {all(hosted, func(f *Facts) { f.Stale, f.Ownership = "its input", []string{"x"} }), runtime.ReasonStaleResult, "its input"},
		"another session":                        {resumed("s-1", "s-2"), runtime.ReasonSession, "go on with session s-1 and began another one, s-2"},
		"another session's model":                {all(resumed("s-1", "s-2"), func(f *Facts) { f.Pin, f.Exit.Outcome.ObservedModel = "a", "b" }), runtime.ReasonSession, "s-2"},
		"the same session":                       {resumed("s-1", "S-1"), "", ""},
		"a session that is not told":             {resumed("s-1", ""), "", ""},
		"a session of a runtime that keeps none": {resumed("", "s-2"), "", ""},
		"the session, another model":             {all(hosted, func(f *Facts) { f.Pin, f.Exit.Outcome.ObservedModel = "m", "n" }), runtime.ReasonModelMismatch, "n"},
		"secret in the patch":                    {func(f *Facts) { f.InjectedSecret, f.Ownership = []string{"rule in x:1"}, []string{"x"} }, runtime.ReasonInjectedSecret, "rule in x:1"},
		"many findings are summed":               {func(f *Facts) { f.FailedChecks = strings.Split("a b c d e f g", " ") }, runtime.ReasonCheckFailed, "a, b, c, d, e and 2 more"},
		"the end before the finding":             {all(exit(1), func(f *Facts) { f.MissingOutputs = []string{"x"} }), runtime.ReasonCrash, "exit status 1"},

		"exec, exit 0, says nothing": {program(0), "", ""},
		"exec, exit 3":               {program(3), runtime.ReasonCrash, "exit status 3"},
		"exec, exit 2":               {program(2), runtime.ReasonCrash, "exit status 2"},
		"exec, not executable":       {program(126), runtime.ReasonSpawn, "exit status 126"},
		"exec, not found":            {program(127), runtime.ReasonSpawn, "exit status 127"},
		"exec, output missing":       {all(program(0), func(f *Facts) { f.MissingOutputs = []string{"x"} }), runtime.ReasonMissingOutput, "x"},
		"exec, timeout":              {all(program(0), stop(supervise.StopTimeout)), runtime.ReasonTimeout, "1500 ms"},
		"exec, killed by someone":    {all(program(0), func(f *Facts) { f.Exit.ExitCode, f.Exit.Signal = nil, "SEGV" }), runtime.ReasonCrash, "signal SEGV"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Classify(done(c.change))
			want := ledger.Failed
			if c.reason == "" {
				want = ledger.Success
			}
			if got.Status != want || got.Reason != c.reason || !strings.Contains(got.Evidence.Unshown(), c.evidence) {
				t.Errorf("%+v", got)
			}
			if c.reason != "" && got.Evidence.Empty() {
				t.Error("no evidence")
			}
		})
	}
}

// That a writer ended after its lease is nothing that it did.
func TestALapsedLeaseIsInterrupted(t *testing.T) {
	got := Classify(done(func(f *Facts) { hosted(f); flag(runtime.ReasonLeaseLapsed)(f) }))
	if got.Status != ledger.Interrupted || got.Reason != runtime.ReasonLeaseLapsed {
		t.Errorf("%+v", got)
	}
}

func TestCancelledIsInterrupted(t *testing.T) {
	// Even a runtime that then claims to have finished was interrupted.
	for _, change := range []func(*Facts){
		stop(supervise.StopCancelled),
		func(f *Facts) { f.Exit.Stop = supervise.StopCancelled },
		all(stop(supervise.StopCancelled), flag(runtime.ReasonCrash)),
	} {
		if got := Classify(done(change)); got.Status != ledger.Interrupted || got.Reason != runtime.ReasonCancelled {
			t.Errorf("%+v", got)
		}
	}
}

func TestASupervisorThatDiedCutsOffItsJob(t *testing.T) {
	got := Classify(done(func(f *Facts) { f.Lost = "it was killed" }))
	if got.Status != ledger.Interrupted || got.Reason != runtime.ReasonCutOff || !strings.Contains(got.Evidence.Unshown(), "it was killed") {
		t.Errorf("%+v", got)
	}
}
