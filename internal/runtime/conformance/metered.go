package conformance

import (
	"fmt"
	"testing"

	"orchestrate/internal/runtime"
)

// decoderMetered: what an adapter says of what its program reports, a person hears before
// a run that has a budget. So it says something, and the recordings do not belie it.
func decoderMetered(t *testing.T, s Subject) (faults []string) {
	said := runtime.MeteredBy(s.Adapter)
	decoded := decoding(t, s)
	completed, usd, tokens := 0, 0, 0
	for _, r := range recordings(t, s) {
		got, err := decoded(r.stdout, r.stderr)
		if err != nil || !got.Outcome.Completed {
			continue
		}
		completed++
		if u := got.Outcome.Usage; u != nil {
			usd += count(u.CostUSD != nil)
			tokens += count(u.InputTokens != nil || u.OutputTokens != nil)
		}
	}
	for _, about := range []struct {
		what string
		told runtime.Told
		seen int
	}{{"cost", said.USD, usd}, {"tokens", said.Tokens, tokens}} {
		switch {
		case about.told == runtime.ToldUnknown:
			faults = append(faults, "it does not say whether its program reports "+about.what)
		case about.told == runtime.ToldNever && about.seen > 0:
			faults = append(faults, fmt.Sprintf("its program never reports %s, it says, and %d recordings have some", about.what, about.seen))
		case about.told == runtime.ToldAlways && about.seen == 0 && completed > 0:
			faults = append(faults, fmt.Sprintf("its program always reports %s, it says, and none of %d recordings has any", about.what, completed))
		}
	}
	return faults
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
