package detect

import (
	"strings"
	"testing"

	gitleaks "github.com/zricethezav/gitleaks/v8/detect"

	"orchestrate/internal/secret"
)

// elsewhere are classes in whose samples the two find different values.
var elsewhere = map[string]string{
	"microsoft-teams-webhook":   "its value is a group within its expression, five characters long",
	"jwt-base64":                "its value is a group within its expression",
	"slack-config-access-token": "the sample is in a case that another rule reads otherwise",
}

// TestRedactorPassesWhatIsAllowed takes the fingerprint that the detector prints
// for a secret of every class, and demands that the stream redactor, which draws
// the borders of values by itself, then leaves the value alone.
func TestRedactorPassesWhatIsAllowed(t *testing.T) {
	cfg, err := defaults()
	if err != nil {
		t.Fatal(err)
	}
	d := gitleaks.NewDetector(cfg)
	for id, rule := range cfg.Rules {
		if rule.Regex == nil || elsewhere[id] != "" {
			continue
		}
		eachSample(t, d, rule, func(text string) bool {
			var allow []string
			var values []string
			for _, f := range d.Detect(gitleaks.Fragment{Raw: text, FilePath: inFile[id]}) { //nolint:staticcheck // v8 has no other form yet
				allow = append(allow, secret.Fingerprint(f.RuleID, f.Secret))
				values = append(values, f.Secret)
			}
			red := secret.NewAllowing(nil, allow).String(text)
			for _, v := range values {
				if !strings.Contains(red, v) {
					t.Errorf("%s: %q is allowed, but %q became %q", id, v, text, red)
					return false
				}
			}
			return len(values) == 0
		})
	}
}
