package pi

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

const signInStep = "run `pi` and type /login, or set the key variable of a provider (`pi --help` lists them)"

// signIn is what the status command says. It prints no credential unless asked to.
type signIn struct {
	Status string `json:"status"`
	Type   string `json:"authType"`
	Reason string `json:"reason"`
}

// The flags of `pi auth check`: without refreshing, it only looks.
const (
	flagProvider  = "--provider"
	flagAsJSON    = "--json"
	flagNoRefresh = "--no-refresh"
)

// readSignIn fills SignedIn and SignInMethod for the provider of the default model;
// false when a job could not sign in, or when that is not known. The other models
// that are listed have credentials too, or they would not be.
func readSignIn(ctx context.Context, asker *probe.Asker, p *runtime.Profile, provider string) bool {
	p.FamilySource = "pi calls models of many makers: whose answers is up to the model and its provider"
	if provider == "" || strings.HasPrefix(provider, "-") || !showsCheck(ctx, asker) {
		p.Limits = append(p.Limits, "sign-in is not proven: pi lists models of providers with credentials, and its status command could not be asked")
		return true
	}
	answer := asker.Ask(ctx, nil, "auth", "check", flagProvider, provider, flagAsJSON, flagNoRefresh)
	if why := probe.Trouble("pi auth check", answer); why != "" {
		p.Reason, p.NextStep = why, fmt.Sprintf("run `pi auth check --provider %s` and see why it does not answer", provider)
		return false
	}
	var said signIn
	probe.JSON(answer.Stdout, &said)
	asker.Summarize(fmt.Sprintf("status %q, kind of credential %q, reason %q", said.Status, said.Type, said.Reason))
	switch said.Status {
	case "ready":
		p.SignedIn, p.SignInMethod = new(true), strings.TrimSpace(said.Type+" of provider "+provider)
		return true
	case "not_ready":
		p.SignedIn = new(false)
		p.State, p.NextStep = runtime.StateUnavailable, signInStep
		p.Reason = fmt.Sprintf("pi is not signed in with %s, the provider of its default model: %s", provider, said.Reason)
		return false
	}
	p.Reason = "pi auth check answered in a form that is not understood, so sign-in is not known"
	p.NextStep = fmt.Sprintf("run `pi auth check --provider %s`; update the program if it is old", provider)
	return false
}

// showsCheck reports whether the help of `pi auth` shows the status command and
// every flag of it that is used. Its neighbours print secrets.
func showsCheck(ctx context.Context, asker *probe.Asker) bool {
	answer := asker.AskBare(ctx, "auth", "--help")
	help := string(answer.Stdout)
	shown := probe.Flags(help, flagProvider, flagAsJSON, flagNoRefresh)
	return probe.Trouble("", answer) == "" && len(shown) == 3 && strings.Contains(help, "pi auth check ")
}
