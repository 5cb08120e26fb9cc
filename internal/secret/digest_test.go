package secret

import (
	"strings"
	"testing"
)

// TestADigestInALockFileIsNoSecret, whatever the package is called; what only says
// so, of another length, is.
func TestADigestInALockFileIsNoSecret(t *testing.T) {
	red := New(nil)
	sum := strings.Repeat("a1B2c3D4e5", 9)
	for _, text := range []string{
		"github.com/x/token v1.2.3 h1:" + sum[:43] + "=", "token: sha512-" + sum[:86] + "==", "secret sha256:" + strings.Repeat("0123456789abcdef", 4),
	} {
		if got := red.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"token h1:" + sum[:40], "token: sha512-" + sum[:40], "secret xsha256:" + sum[:43]} {
		if got := red.String(text); got == text {
			t.Errorf("%q is shown", text)
		}
	}
}

// TestAKeyThatIsOnlyTalkedAbout has no body.
func TestAKeyThatIsOnlyTalkedAbout(t *testing.T) {
	begin, end := "-----BEGIN RSA PRIVATE"+" KEY-----", "-----END RSA PRIVATE"+" KEY-----"
	red := New(nil)
	for _, text := range []string{
		begin + " is how it starts (see the documentation).", `if strings.HasPrefix(text, "` + begin + `") { return errKey }`,
		begin + "\n...\n" + end, "-----BEGIN ... PRIVATE" + " KEY-----",
	} {
		if got := red.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := red.String("here: " + begin + "\n"); !strings.Contains(got, "REDACTED") {
		t.Errorf("%q: what follows may be the key", got)
	}
}

func TestWhatIsCertain(t *testing.T) {
	for _, c := range []struct {
		rule, value string
		want        bool
	}{
		{"github-token", "x", true},
		{ExactRule, "x", true},
		{"password", "test1234", false},
		{"password", "correct-horse-battery", false},
		{"assigned-secret", "3f9a0c7e51d24b86", true},
		{"url-credentials", "postgres", false},
		{"url-credentials", "pTAqK1crAce5Kbw", true},
	} {
		if got := Certain(c.rule, c.value); got != c.want {
			t.Errorf("%s %q: %v", c.rule, c.value, got)
		}
	}
}
