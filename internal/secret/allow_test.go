package secret

import (
	"encoding/base64"
	"encoding/json"
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
