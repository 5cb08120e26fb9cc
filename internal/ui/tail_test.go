package ui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

// Records come once and in order, whatever of a line is on disk when they are looked
// for, and also after a torn last line was replaced by another.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	journal, err := os.Create(filepath.Join(dir, ledger.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	tail, err := ui.OpenTail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	var got []string
	next := func() string {
		t.Helper()
		got = nil
		if err := tail.Next(func(r ledger.Record) { got = append(got, r.Text.Unshown()) }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, ",")
	}
	write := func(s string) {
		t.Helper()
		if _, err := journal.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 200<<10)
	for _, step := range []struct{ write, want string }{
		{"", ""},
		{`{"kind":"note","text":"a"}` + "\n", "a"},
		{`{"kind":"note",`, ""},
		{`"text":"b"}` + "\n" + `{"kind":"note","text":"c"}` + "\n", "b,c"},
		{`{"kind":"note","text":"` + long + `"}`, ""},
		{"\n" + `{"kind":"note","text":"torn`, long},
	} {
		if write(step.write); next() != step.want {
			t.Fatalf("after %.40q: %.60q", step.write, got)
		}
	}
	info, err := journal.Stat()
	if err != nil {
		t.Fatal(err)
	}
	cut := info.Size() - int64(len(`{"kind":"note","text":"torn`))
	if err := journal.Truncate(cut); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Seek(cut, 0); err != nil {
		t.Fatal(err)
	}
	if write(`{"kind":"note","text":"whole"}` + "\n"); next() != "whole" {
		t.Fatalf("after the torn line: %q", got)
	}
	write("damaged\n")
	if err := tail.Next(func(ledger.Record) {}); err == nil || !strings.Contains(err.Error(), "byte") {
		t.Errorf("a damaged line: %v", err)
	}
}

func TestSaying(t *testing.T) {
	for _, tc := range []struct {
		e    runtime.Event
		want string
	}{
		{runtime.Event{Kind: runtime.EventText, Text: untrusted.From("two\nlines\n")}, "two\nlines"},
		{runtime.Event{Kind: runtime.EventText, Text: untrusted.From("a\x1b[2Jb")}, "a(U+001B)[2Jb"},
		{runtime.Event{Kind: runtime.EventToolCall, Tool: "Read", Text: untrusted.From("main.go\nx")}, "[tool] Read: main.go x"},
		{runtime.Event{Kind: runtime.EventDenied, Tool: "Bash"}, "[denied] Bash"},
		{runtime.Event{Kind: runtime.EventWarning, Text: untrusted.From("careful")}, "[warning] careful"},
		{runtime.Event{Kind: runtime.EventFailed, Reason: runtime.ReasonQuota, Text: untrusted.From("limit")}, "[failed] quota: limit"},
		{runtime.Event{Kind: runtime.EventProcess, PID: 1}, ""},
	} {
		if got := ui.Saying(tc.e); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.e, got, tc.want)
		}
	}
}
