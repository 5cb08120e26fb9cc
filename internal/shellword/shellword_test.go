package shellword

import (
	"os/exec"
	"testing"

	"pgregory.net/rapid"
)

func TestPlainWordsStayPlain(t *testing.T) {
	if got, want := Join([]string{"/bin/x", "", "it's", "a b", "--f=v"}), `/bin/x '' 'it'\''s' 'a b' --f=v`; got != want {
		t.Errorf("Join = %s, want %s", got, want)
	}
}

func TestAShellReadsBackWhatWasQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("aZ0-_'\"\\$`*?[]{}()<>|&;#~! \t\nä–=")), 0, 12, -1).Draw(t, "word")
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Fatalf("sh reads %s as %q (%v), want %q", Quote(word), out, err, word)
		}
	})
}
