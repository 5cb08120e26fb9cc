package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestFromText(t *testing.T) {
	got, why := FromText([]byte("[server]\nhost = db.example.invalid\npassword = \"s3cr3t-Pa55word\"\nexport API_KEY='k3yOf-12345678'\nDEBUG=true\n"))
	slices.Sort(got)
	if want := []string{"k3yOf-12345678", "s3cr3t-Pa55word"}; !slices.Equal(got, want) || why != "" {
		t.Errorf("%q, %q", got, why)
	}
	for text, want := range map[string]string{"A_TOKEN=s3cr3t-Pa55word\x00": "it is no text", strings.Repeat("A=1\n", 1<<18+1): "larger than 1 MiB"} {
		if got, why := FromText([]byte(text)); got != nil || !strings.Contains(why, want) {
			t.Errorf("%q, %q, want %q", got, why, want)
		}
	}
}

func TestFromSetting(t *testing.T) {
	for name, want := range map[string]int{"password": 1, "greeting": 0} {
		if got := FromSetting(name, "pass-w0rd"); len(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
