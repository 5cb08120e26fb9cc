package detect

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
	gitleaks "github.com/zricethezav/gitleaks/v8/detect"

	"orchestrate/internal/secret"
)

// leftOut are the classes that the stream redactor does not know, and why.
var leftOut = map[string]string{
	"generic-api-key":        "any name with access, auth, api or key: would take digests and cache keys out of ordinary output",
	"kubernetes-secret-yaml": "a whole document, not a value; tokens and keys in its base64 are found by their own shape",
	"facebook-access-token":  "digits, a bar and letters: no literal to anchor at",
	"asana-client-id":        "digits only: an identifier, not a secret",
	"discord-client-id":      "digits only: an identifier, not a secret",
}

// byHand are samples for the rules whose expression also matches texts that are
// no secret of that class.
var byHand = map[string]string{
	"private-key":          "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx3+q/7Yh0aPzPqKk2Z9mG8e1\n", 5) + "-----END RSA PRIVATE KEY-----",
	"jwt-base64":           "ZXlKaGJHY2lPaUpJVXpJMU5pSjkuZXlKemRXSWlPaUl4TWpNME5UWTNPRGt3SW4wLmRvenNhcjNqWTNIaDdLczlQMm1YcTRUdzhSbjZWYjFjTGs1RQ==",
	"curl-auth-user":       `curl -sS -u "deploy:hY7-kq.Zp2" host.example/x`,
	"jwt":                  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozsar3jY3Hh7Ks9P2mXq4Tw8Rn6Vb1cLk5E",
	"slack-webhook-url":    "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/aBcDeFgHiJkLmNoPqRsTuVwX",
	"nytimes-access-token": `nytimes_key = "xl3ldnUPbXkl3guPAdSspxOu7kB4nACS"`,
	"freemius-secret-key":  `'secret_key' => 'sk_Zr4cqioQyJ3OCem26M7jXw9Lt5aNb',`,
	"vault-service-token":  "hvs." + strings.Repeat("CAESIJ7vK2mQx9pT4r", 5) + "abcdefGH12",
}

// inFile names the file for rules that look into certain files only.
var inFile = map[string]string{
	"freemius-secret-key":   "a.php",
	"nuget-config-password": "nuget.config",
	"hashicorp-tf-password": "a.tf",
}

// TestRedactorCoversDetector makes secrets of every class that the maintained
// detector knows, and fails when the redactor shows one.
func TestRedactorCoversDetector(t *testing.T) {
	cfg, err := defaults()
	if err != nil {
		t.Fatal(err)
	}
	d := gitleaks.NewDetector(cfg)
	red := secret.New(nil)
	for id, rule := range cfg.Rules {
		if rule.Regex == nil {
			continue // a class of file names
		}
		tried, shown := compare(t, d, red, rule)
		switch {
		case leftOut[id] != "" && shown == "" && tried > 0:
			t.Errorf("%s is left out (%s) but covered: remove it from the list", id, leftOut[id])
		case leftOut[id] == "" && shown != "":
			t.Errorf("%s is not redacted: %s", id, shown)
		case leftOut[id] == "" && tried == 0:
			t.Errorf("%s: no sample that the detector finds", id)
		}
	}
}

// compare tries samples of one rule until ten were found by the detector. It
// returns the last one that the redactor let through.
func compare(t *testing.T, d *gitleaks.Detector, red *secret.Redactor, rule config.Rule) (tried int, shown string) {
	t.Helper()
	eachSample(t, d, rule, func(text string) bool {
		for _, f := range d.Detect(gitleaks.Fragment{Raw: text, FilePath: inFile[rule.RuleID]}) { //nolint:staticcheck // v8 has no other form yet
			if f.RuleID != rule.RuleID {
				continue
			}
			tried++
			// Where any value may stand, one without a digit is a word more often than a key.
			if strings.ContainsAny(f.Secret, "0123456789") && strings.Contains(red.String(text), f.Secret) {
				shown = fmt.Sprintf("%q in %q", f.Secret, text)
			}
		}
		return tried < 10
	})
	return tried, shown
}

// eachSample makes texts that match a rule until it is told to stop.
func eachSample(t *testing.T, d *gitleaks.Detector, rule config.Rule, more func(text string) bool) {
	t.Helper()
	re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
	if err != nil {
		t.Fatal(rule.RuleID, err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	found := false
	for k := range 600 {
		text := sample(rnd, re)
		if byHand[rule.RuleID] != "" {
			text = byHand[rule.RuleID]
		}
		text = "x: " + text + "\n"
		if k > 300 && !found { // the rule wants its keyword somewhere else
			text = strings.Join(rule.Keywords, "\n") + "\n" + text
		}
		found = found || len(d.Detect(gitleaks.Fragment{Raw: text, FilePath: inFile[rule.RuleID]})) > 0 //nolint:staticcheck // v8 has no other form yet
		if !more(text) {
			return
		}
	}
}

// sample makes a text that matches re.
func sample(rnd *rand.Rand, re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 && rnd.IntN(2) == 0 {
			return strings.ToLower(string(re.Rune))
		}
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(pick(rnd, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune('a' + rnd.IntN(26)))
	case syntax.OpCapture:
		return sample(rnd, re.Sub[0])
	case syntax.OpConcat:
		var out strings.Builder
		for _, sub := range re.Sub {
			out.WriteString(sample(rnd, sub))
		}
		return out.String()
	case syntax.OpAlternate:
		return sample(rnd, re.Sub[rnd.IntN(len(re.Sub))])
	case syntax.OpQuest:
		return times(rnd, re.Sub[0], 0, 1)
	case syntax.OpStar:
		return times(rnd, re.Sub[0], 0, 4)
	case syntax.OpPlus:
		return times(rnd, re.Sub[0], 1, 30)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 10
		}
		return times(rnd, re.Sub[0], re.Min, most)
	}
	return "" // boundaries and the empty match
}

func times(rnd *rand.Rand, re *syntax.Regexp, least, most int) string {
	var out strings.Builder
	for range least + rnd.IntN(most-least+1) {
		out.WriteString(sample(rnd, re))
	}
	return out.String()
}

// pick takes a printable character of a class where there is one.
func pick(rnd *rand.Rand, ranges []rune) rune {
	var all []rune
	for k := 0; k < len(ranges); k += 2 {
		for r := max(ranges[k], ' '); r <= min(ranges[k+1], '~'); r++ {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return ranges[0]
	}
	return all[rnd.IntN(len(all))]
}
