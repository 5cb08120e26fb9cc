//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
)

func TestThePageReadsEndsOfFilesAndFollowsNoLink(t *testing.T) {
	led, err := ledger.Create(t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	defer led.Close()
	write := func(rel, text string) {
		t.Helper()
		if err := led.WriteFile(rel, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("a/short.txt", "the word is SECRET\n")
	write("a/lines.txt", strings.Repeat("0123456\n", 1000))
	write("a/line.txt", strings.Repeat("é", 1000))
	outside := filepath.Join(t.TempDir(), "outside.txt")
	for _, err := range []error{
		os.WriteFile(outside, []byte("not ours"), 0o600),
		os.Symlink(outside, led.Path("a", "link.txt")),
		os.Symlink(filepath.Dir(outside), led.Path("folder")),
		syscall.Mkfifo(led.Path("a", "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := PageFiles(led, func(s string) string { return strings.ReplaceAll(s, "SECRET", "[…]") })
	defer files.Close()
	for rel, want := range map[string]report.Excerpt{
		"a/short.txt": {Head: "the word is […]\n"},
		"a/lines.txt": {Head: strings.Repeat("0123456\n", 7), Tail: strings.Repeat("0123456\n", 3), Left: 8000 - 80},
		// Nowhere a line ends, so the cut is where there is room, in whole letters.
		"a/line.txt":         {Head: strings.Repeat("é", 30), Tail: strings.Repeat("é", 15), Left: 2000 - 90},
		"a/link.txt":         {},
		"a/pipe":             {},
		"a":                  {},
		"folder/outside.txt": {},
		"../x":               {},
		"gone.txt":           {},
	} {
		if diff := cmp.Diff(want, files.Read(rel, 90)); diff != "" {
			t.Errorf("%s: %s", rel, diff)
		}
		if _, ok := files.Size(rel); ok != (want.Head != "") {
			t.Errorf("%s: there is %v", rel, ok)
		}
	}
}
