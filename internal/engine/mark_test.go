package engine

import (
	"strings"
	"testing"

	"orchestrate/internal/secret"
)

// A mark that was masked on disk finds nobody.
func TestNoMarkLooksLikeASecret(t *testing.T) {
	unlucky := "A3TQGMOPSOXSP3GQBUB2ENYRTU"
	redact := secret.New(nil)
	if redact.String(unlucky) == unlucky {
		t.Fatal("the value is not unlucky any more: choose another")
	}
	if mark := strings.ToLower(unlucky); redact.String(mark) != mark {
		t.Errorf("%s is masked as %s", mark, redact.String(mark))
	}
	if mark := newMark(); mark != strings.ToLower(mark) || mark == newMark() {
		t.Errorf("%s has capitals, or is that of another attempt too", mark)
	}
}
