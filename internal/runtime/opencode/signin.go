package opencode

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// readSignIn fills SignedIn and SignInMethod; false when no job could sign in,
// or when that is not known. The list shows what is there, not that it works.
func (b about) readSignIn(ctx context.Context, asker *probe.Asker, p *runtime.Profile, live liveConfig) bool {
	what := b.name + " auth list"
	answer := asker.Ask(ctx, nil, "auth", "list")
	if why := probe.Trouble(what, answer); why != "" {
		p.Reason, p.NextStep = why, fmt.Sprintf("run `%s` and see why it does not answer", what)
		return false
	}
	// The list ends each of its two parts with a count; the second part is left out
	// where it would be empty.
	text := plain(probe.Text(answer))
	stored, variables := counted(text, "credentials?"), counted(text, "environment variables?")
	if stored == "" {
		p.Reason = what + " answered in a form that is not understood, so sign-in is not known"
		p.NextStep = fmt.Sprintf("run `%s`; update the program if it is old", what)
		return false
	}
	var methods []string
	if stored != "0" {
		methods = append(methods, "stored credentials: "+stored)
	}
	if variables != "" && variables != "0" {
		methods = append(methods, "environment variables: "+variables)
	}
	asker.Summarize(fmt.Sprintf("stored credentials: %s; %s", stored, strings.Join(methods, "; ")))
	p.FamilySource = b.name + " calls models of many makers: whose answers is up to the model and its provider"
	if len(methods) > 0 {
		p.SignedIn, p.SignInMethod = new(true), strings.Join(methods, "; ")
		// The list does not see keys in the configuration, and others prove nothing.
		provider, _, _ := strings.Cut(live.Model, "/")
		if _, own := live.Providers[provider]; own {
			p.Limits = append(p.Limits, fmt.Sprintf("the default model's provider %q is set up in the user's configuration: its sign-in cannot be checked without a model call", provider))
		}
		return true
	}
	return b.configured(p, live)
}

// configured judges a machine without credentials: providers of the user's own
// configuration may hold their key there, or need none.
func (b about) configured(p *runtime.Profile, live liveConfig) bool {
	switch {
	case !live.known:
		p.Reason = "there are no credentials, and whether the configuration names a provider is not known"
		p.NextStep = fmt.Sprintf("run `%s debug config` and see why it does not answer", b.name)
		return false
	case len(live.Providers) == 0:
		p.SignedIn = new(false)
		p.State = runtime.StateUnavailable
		p.Reason = b.name + " is not signed in with any provider"
		p.NextStep = fmt.Sprintf("run `%s auth login`, or set the key variable of a provider", b.name)
		return false
	}
	p.SignInMethod = "configuration: " + names(live.Providers)
	p.Limits = append(p.Limits, "providers of the user's configuration: sign-in cannot be checked without a model call")
	return true
}

// counted finds the number before the words on a line of their own, or "".
func counted(text, words string) string {
	m := regexp.MustCompile(`(?m)^\W*(\d+) ` + words + `\s*$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}
