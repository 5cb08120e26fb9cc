package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func TestAllowedValuesPass(t *testing.T) {
	const exact, other = `Xq7-2b"Vt9LmPz4RwKd8H`, "Bn5-8cWu3KjQy6TvLe2G"
	const pat = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	allow := []string{Fingerprint("generic-api-key", exact), Fingerprint("exact", pat)}
	red := NewAllowing([]string{exact, other}, allow)
	quoted, err := json.Marshal(exact + " " + pat)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"token " + exact + " and " + pat, string(quoted), "GITHUB_TOKEN=" + pat,
		base64.StdEncoding.EncodeToString([]byte("x " + exact)), base64.StdEncoding.EncodeToString([]byte("xy " + pat + " z")),
	} {
		if got := red.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := red.String(exact + " " + other); strings.Contains(got, other) {
		t.Errorf("another value was allowed too: %q", got)
	}
	if got := red.String("x " + strings.Replace(pat, "16C7", "27D8", 1)); !strings.Contains(got, "REDACTED") {
		t.Errorf("another token was allowed too: %q", got)
	}
}

// TestWhatWasPrintedCanBeAllowed takes the fingerprint of each spelling that was
// found, which is what an operator is shown.
func TestWhatWasPrintedCanBeAllowed(t *testing.T) {
	const value, shape = "Xq7-2b/Vt9LmPz4RwKd8H", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for _, text := range []string{
		value, shape, url.QueryEscape(value), strings.ReplaceAll(value, "/", `\/`),
		base64.StdEncoding.EncodeToString([]byte("x " + value + " y")), base64.StdEncoding.EncodeToString([]byte("x " + shape + " y")),
	} {
		found, err := New([]string{value}).Search(strings.NewReader(text))
		if err != nil || len(found) != 1 {
			t.Fatalf("%q: %+v, %v", text, found, err)
		}
		if got := NewAllowing([]string{value}, []string{found[0].Fingerprint}).String(text); got != text {
			t.Errorf("%q is allowed and became %q", text, got)
		}
	}
}

// TestAFingerprintCanBeRead in what was redacted: it is told so that it is used.
func TestAFingerprintCanBeRead(t *testing.T) {
	for _, rule := range []string{"github-token", "password", "assigned-secret", "generic-api-key", "service-key"} {
		mark := Fingerprint(rule, rule)
		for _, text := range []string{"a secret (fingerprint " + mark + "), here", `{"text":"fingerprint ` + mark + `"}`} {
			if got := New(nil).String(text); got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
		if text := "say " + mark + "0 and fingerprint " + mark + "0"; rule != "service-key" && New(nil).String(text) == text {
			t.Errorf("too much is left: %q", text)
		}
	}
}
