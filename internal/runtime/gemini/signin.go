package gemini

import (
	"fmt"

	"orchestrate/internal/runtime"
)

const (
	signInStep = "run `gemini` once and sign in, or set " + apiKeyEnv
	oauth      = "oauth-personal"
	apiKey     = "gemini-api-key"
)

// readSignIn fills SignedIn, SignInMethod and Family from what the program's own
// start-up check said; false unless it came past it.
func readSignIn(host runtime.Host, p *runtime.Profile, test selfTest) bool {
	p.SignInMethod = test.method
	switch {
	case test.trouble != "":
		p.Reason = "sign-in is not known: " + test.trouble
		p.NextStep = "run `gemini " + flagSessions + "` in an empty folder and see why it does not answer"
		return false
	case test.accepted:
		p.SignedIn = new(true)
	case test.none:
		p.SignedIn = new(false)
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "gemini is not signed in", signInStep
		return false
	case test.method != "":
		p.SignedIn = new(false)
		p.State = runtime.StateUnavailable
		p.Reason = fmt.Sprintf("gemini does not accept its sign-in by %s: it said %s", test.method, test.said)
		p.NextStep = signInStep
		if test.method == "gateway" { // what a base URL alone amounts to
			p.NextStep = `choose a way to sign in: put {"security":{"auth":{"selectedType":"` + apiKey + `"}}} into ~/.gemini/settings.json`
		}
		return false
	default:
		p.Reason = "gemini's start-up check answered in a form that is not understood, so sign-in is not known: " + test.said
		p.NextStep = "run `gemini " + flagSessions + "` in an empty folder; update the program if it is old"
		return false
	}
	p.Family, p.FamilySource = family(host, test.method)
	return true
}

// family names the maker only where sign-in is with the maker's own service and
// nothing sends the calls elsewhere.
func family(host runtime.Host, method string) (name, source string) {
	for _, override := range elsewhere() {
		if host.Getenv(override) != "" {
			return "", override + " is set: who answers is not known"
		}
	}
	if method != oauth && method != apiKey {
		return "", fmt.Sprintf("gemini's start-up check: sign-in is by %q", method)
	}
	return "google", "gemini's start-up check: sign-in by " + method + ", no base URL override"
}
