package custom

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// signIn fills SignedIn and SignInMethod; false when no job could sign in, or when the
// answer is not understood.
func (i *interview) signIn(ctx context.Context) bool {
	s := i.def.SignIn
	if s == nil {
		i.limit("whether anybody is signed in cannot be asked without a model call")
		return true
	}
	if len(s.Env) > 0 && !i.keyed(s.Env) {
		return false
	}
	if len(s.Args) > 0 {
		return i.status(ctx, *s)
	}
	return true
}

// keyed looks for a variable that has to be there before the program is started: it
// would otherwise wait for a person.
func (i *interview) keyed(names []string) bool {
	for _, name := range names {
		if i.host.Getenv(name) != "" {
			i.p.SignInMethod = "environment: " + name
			if len(i.def.SignIn.Args) == 0 && !i.def.SignIn.Session {
				i.limit("%s is set; whether it is accepted cannot be asked without a model call", name)
			}
			return true
		}
	}
	all := strings.Join(names, " nor ")
	return i.unverified(i.signInStep("set "+strings.Join(names, " or ")),
		"%s is not set, and without it there is no telling whether anybody is signed in", all)
}

func (i *interview) signInStep(otherwise string) string {
	if c := i.def.SignInCommand; c != "" {
		return fmt.Sprintf("run `%s`, then `orchestrate doctor`", c)
	}
	return cmp.Or(otherwise, "sign in to it") + ", then run `orchestrate doctor`"
}

// status asks the status command. What it says outranks its exit status.
func (i *interview) status(ctx context.Context, s SignIn) bool {
	answer, ok := i.ask(ctx, s.Args)
	if !ok {
		return false
	}
	text := probe.Text(answer)
	in, out := matches(s.OK, text), matches(s.Out, text)
	if s.Exit && !in && !out {
		in, out = answer.ExitCode == 0, answer.ExitCode != 0 && s.Out == ""
	}
	switch {
	case out:
		return i.signedOut(fmt.Sprintf("`%s` says that nobody is signed in", i.question(s.Args)))
	case in:
		i.p.SignedIn, i.p.SignInMethod = new(true), i.question(s.Args)
		i.asker.Summarize("signed in") // the answer may name a person
		return true
	}
	return i.unverified(fmt.Sprintf("run `%s` and see what it says", i.question(s.Args)),
		"`%s` answered in a form that is not understood, so sign-in is not known", i.question(s.Args))
}

func (i *interview) signedOut(why string) bool {
	i.p.SignedIn, i.p.State = new(false), runtime.StateUnavailable
	i.p.Reason, i.p.NextStep = why, i.signInStep("")
	return false
}

func matches(expression, text string) bool {
	return expression != "" && regexp.MustCompile(expression).MatchString(text)
}
