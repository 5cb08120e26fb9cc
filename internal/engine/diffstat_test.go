package engine

import (
	"testing"

	"orchestrate/internal/workspace"
)

func TestADiffstatNamesEachFileOnALineOfItsOwn(t *testing.T) {
	got := diffstat([]workspace.Change{
		{Path: "src/größe.go", Status: "M", Added: 12, Deleted: 3},
		{Path: "a\nfiles: 0\x1b[2J", Status: "A", Added: 1},
		{Path: "evil\u202egnp.exe", Status: "A", Binary: true},
		{Path: " lead", Status: "D", Deleted: 4},
		{Path: "bad\xff", Status: "T"},
	})
	want := "M     +12      -3  src/größe.go\n" +
		"A      +1      -0  \"a\\nfiles: 0\\x1b[2J\"\n" +
		"A          binary  \"evil\\u202egnp.exe\"\n" +
		"D      +0      -4  \" lead\"\n" +
		"T      +0      -0  \"bad\\xff\"\n" +
		"files: 5, lines added: 13, lines deleted: 7, binary files: 1\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
