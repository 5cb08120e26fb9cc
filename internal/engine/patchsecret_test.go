package engine

import (
	"context"
	"strings"
	"testing"

	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
)

const known = "Xq7-2bVt9LmPz4RwKd8H"

func reviewer(t *testing.T, allow ...string) *run {
	t.Helper()
	d, err := detect.New([]string{known}, allow)
	if err != nil {
		t.Fatal(err)
	}
	return &run{redact: secret.NewAllowing([]string{known}, allow), detect: d}
}

const smallPatch = "diff --git a/k b/k\n--- a/k\n+++ b/k\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n"

func TestOnlyWhatIsAddedIsHeldAgainstTheWriter(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		injected bool
		shown    bool // as it is
	}{
		"nothing":          {"", "", false, true},
		"in an added line": {"new line", "new " + known, true, false},
		"in context":       {"same", "same " + known, false, false},
		"in what is gone":  {"old line", known, false, false},
		"in a name":        {"/k", "/" + known, false, false},
	} {
		var s settlement
		patch := strings.ReplaceAll(smallPatch, c.from, c.to)
		if c.from == "" {
			patch = smallPatch
		}
		kept, err := reviewer(t).reviewPatch(context.Background(), &attempt{}, []byte(patch), &s)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.facts.InjectedSecret) > 0; got != c.injected {
			t.Errorf("%s: held against the writer: %v", name, s.facts.InjectedSecret)
		}
		if s.displayOnly == c.shown || (string(kept) == patch) != c.shown || strings.Contains(string(kept), known) {
			t.Errorf("%s: display only %v, kept\n%s", name, s.displayOnly, kept)
		}
		if strings.Contains(strings.Join(s.facts.InjectedSecret, ""), known) {
			t.Errorf("%s: the evidence shows it", name)
		}
	}
}

func TestAnAllowedValueMayBeInAPatch(t *testing.T) {
	var s settlement
	patch := strings.ReplaceAll(smallPatch, "line", known)
	kept, err := reviewer(t, secret.Fingerprint("any-rule", known)).reviewPatch(context.Background(), &attempt{}, []byte(patch), &s)
	if err != nil || string(kept) != patch || s.displayOnly || len(s.facts.InjectedSecret) > 0 {
		t.Errorf("%v, %+v, kept\n%s", err, s.facts.InjectedSecret, kept)
	}
}

func TestAPatchThatIsNotSearchedToTheEndDoesNotPass(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var s settlement
	kept, err := reviewer(t).reviewPatch(ctx, &attempt{}, []byte(smallPatch), &s)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(s.facts.InjectedSecret, ""); !strings.Contains(text, "not searched to the end") {
		t.Errorf("evidence %q", text)
	}
	if !s.displayOnly || strings.Contains(string(kept), "new line") {
		t.Errorf("kept\n%s", kept)
	}
}

func TestReadableAndHiddenTextOfBinaryFiles(t *testing.T) {
	wide := make([]byte, 0, 2*len(known))
	for _, c := range []byte(known) {
		wide = append(wide, c, 0)
	}
	const pat = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	r := reviewer(t)
	for name, data := range map[string]string{
		"known value": "\x00\xff" + known + "\x01", "UTF-16": "\xff\xfe" + string(wide), "token": "\x00\x7f" + pat + "\x00\x02",
	} {
		if found := r.searchBinary(context.Background(), []byte(data)); len(found) != 1 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := r.searchBinary(context.Background(), []byte("\x7fELF\x02\x01\x00plain text\x00more")); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}
