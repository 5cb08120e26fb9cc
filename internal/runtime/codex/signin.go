package codex

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

const signInStep = "run `codex login`, or set " + apiKeyEnv

// readSignIn fills SignedIn, SignInMethod and Family; false when no job could
// sign in, or when that is not known.
func readSignIn(ctx context.Context, asker *probe.Asker, p *runtime.Profile, live liveFacts) bool {
	if live.known && !live.ownProvider() {
		return otherProvider(asker.Host, p, live)
	}
	answer := asker.Ask(ctx, nil, "login", "status")
	if why := probe.Trouble("codex login status", answer); why != "" {
		p.Reason, p.NextStep = why, "run `codex login status` and see why it does not answer"
		return false
	}
	said := statusLine(answer)
	switch {
	case answer.ExitCode == 0 && (strings.HasPrefix(said, "Logged in") || strings.HasPrefix(said, "API key")):
		p.SignedIn, p.SignInMethod = new(true), loginMethod(said)
	case said != "Not logged in":
		p.Reason = "codex login status answered in a form that is not understood, so sign-in is not known"
		p.NextStep = "run `codex login status`; update the program if it is old"
		return false
	case asker.Host.Getenv(apiKeyEnv) != "":
		p.SignInMethod = apiKeyEnv
		p.Limits = append(p.Limits, "sign-in by "+apiKeyEnv+", which the status command does not see")
	default:
		p.SignedIn = new(false)
		p.State, p.Reason, p.NextStep = runtime.StateUnavailable, "codex is not signed in", signInStep
		return false
	}
	p.Family, p.FamilySource = family(asker.Host, live)
	return true
}

// otherProvider judges a provider of the user's own configuration, for which
// there is no status command.
func otherProvider(host runtime.Host, p *runtime.Profile, live liveFacts) bool {
	name := live.config.Provider
	provider := live.config.Providers[name]
	p.FamilySource = fmt.Sprintf("model_provider is %q: who answers is not known", name)
	switch {
	case provider.EnvKey != "" && host.Getenv(provider.EnvKey) == "":
		p.State = runtime.StateUnavailable
		p.Reason = fmt.Sprintf("the provider %q of codex's configuration wants its key in %s, which jobs do not get", name, provider.EnvKey)
		p.NextStep = fmt.Sprintf("set %s and allow it to pass to jobs (env_allow)", provider.EnvKey)
		return false
	case provider.EnvKey != "":
		p.SignInMethod = provider.EnvKey
	default:
		p.SignInMethod = "provider " + name
	}
	p.Limits = append(p.Limits, fmt.Sprintf("provider %q of codex's configuration: sign-in cannot be checked without a model call", name))
	return true
}

// statusLine is the answer of the status command, past the program's warnings.
func statusLine(answer runtime.Answer) string {
	for line := range strings.SplitSeq(probe.Text(answer), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "WARNING") {
			return line
		}
	}
	return ""
}

// loginMethod leaves out the (masked) key that the status command prints.
func loginMethod(said string) string {
	method, _, _ := strings.Cut(said, " - ")
	return method
}

// family names the maker only where models are called through its own service.
func family(host runtime.Host, live liveFacts) (name, source string) {
	if !live.known {
		return "", "the effective configuration is not known"
	}
	for _, key := range []string{"openai_base_url", "chatgpt_base_url"} {
		if _, set := live.origins[key]; set {
			return "", key + " is set in codex's configuration: who answers is not known"
		}
	}
	if host.Getenv(baseURLEnv) != "" {
		return "", baseURLEnv + " is set: who answers is not known"
	}
	return "openai", "config/read: provider is codex's own, no base URL override"
}
