package claude

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// authStatus is what `claude auth status` prints, whatever its exit status.
type authStatus struct {
	LoggedIn *bool  `json:"loggedIn"`
	Method   string `json:"authMethod"`
	Provider string `json:"apiProvider"`
	KeyFrom  string `json:"apiKeySource"`
}

const signInStep = "run `claude auth login`, or set ANTHROPIC_API_KEY"

// readSignIn fills SignedIn, SignInMethod and Family; false unless signed in.
func readSignIn(ctx context.Context, asker *probe.Asker, p *runtime.Profile) bool {
	answer := asker.Ask(ctx, nil, "auth", "status")
	if why := probe.Trouble("claude auth status", answer); why != "" {
		p.Reason, p.NextStep = why, "run `claude auth status` and see why it does not answer"
		return false
	}
	var status authStatus
	if !probe.JSON(answer.Stdout, &status) || status.LoggedIn == nil {
		p.Reason = "claude auth status answered in a form that is not understood, so sign-in is not known"
		p.NextStep = "run `claude auth status`; update the program if it is old"
		return false
	}
	p.SignedIn = status.LoggedIn
	p.SignInMethod = strings.Trim(status.Method+" "+status.KeyFrom, " ")
	asker.Summarize(fmt.Sprintf("loggedIn=%t authMethod=%s apiProvider=%s apiKeySource=%s",
		*status.LoggedIn, status.Method, status.Provider, status.KeyFrom))
	if !*status.LoggedIn {
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "claude is not signed in", signInStep
		return false
	}
	p.Family, p.FamilySource = family(status, asker.Host)
	return true
}

// family names the maker only where sign-in is with the maker's own service and
// nothing sends the calls elsewhere.
func family(status authStatus, host runtime.Host) (name, source string) {
	for _, override := range append([]string{baseURL}, otherProviders()...) {
		if host.Getenv(override) != "" {
			return "", override + " is set: who answers is not known"
		}
	}
	if status.Provider != "firstParty" {
		return "", fmt.Sprintf("claude auth status: apiProvider is %q", status.Provider)
	}
	return "anthropic", "claude auth status: apiProvider firstParty, no base URL override"
}
