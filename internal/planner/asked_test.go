package planner

import (
	"strings"
	"testing"
)

var commands = []string{"run", "plan", "status", "output", "explain", "clean", "next", "submit", "resume", "report", "wait", "help", "version", "init", "doctor", "history"}

func TestWhatIsARequest(t *testing.T) {
	for _, text := range []string{
		"research three caching strategies and compare them",
		"fix the tests", "write docs", "  padded with spaces  ",
		"plan a move of the tests to another folder", // a sentence may begin with the name of a command
		"run the tests and fix what fails",
		"explain 20261130 as a date and as a number",
		"explain how the cache works, in two pages",
		"clean up the code of the parser",
		"vergleiche drei Strategien für den Cache",
		"line one\nline two",
		"look at src/a.go and say what it does",
		strings.Repeat("word ", 10_000),
	} {
		got, err := Request([]string{text}, commands)
		if err != nil || got != strings.TrimSpace(text) {
			t.Errorf("%.40q: %.40q, %v", text, got, err)
		}
	}
}

func TestWhatIsNoRequest(t *testing.T) {
	for _, c := range []struct {
		args []string
		why  string
	}{
		{[]string{"statsu"}, "did you mean status?"},
		{[]string{"status"}, "did you mean status?"},
		{[]string{"staus 20261130-101010"}, "looks like the command status"},
		{[]string{"status run1 --json"}, "looks like the command status"},
		{[]string{"stauts", "run1"}, "did you mean status?"},
		{[]string{"rn jobs.yaml"}, "looks like the command run"},
		{[]string{"run jobs.yaml as fast as you can"}, "looks like the command run"},
		{[]string{"resume orchestrate-20261130-1 and go on please"}, "looks like the command resume"},
		{[]string{"resume 20261130-101010 and go on please"}, "looks like the command resume"},
		{[]string{"resume 20261130-101010-2 and go on please"}, "looks like the command resume"},
		{[]string{"explain RUN job"}, "looks like the command explain"},
		{[]string{"output my run as text --brief please"}, "looks like the command output"},
		{[]string{"PLAN it"}, "looks like the command plan"},
		{[]string{"refactor"}, "a request has two words or more"},
		{[]string{"plan.yml2"}, "is not a command"},
		{[]string{"./x"}, "is not a command"},
		{[]string{"./my folder/x"}, "looks like a path"},
		{[]string{"/etc/some file"}, "looks like a path"},
		{[]string{"~/my file"}, "looks like a path"},
		{[]string{`C:\my file`}, "looks like a path"},
		{[]string{"--yes please do"}, "looks like a flag"},
		{[]string{""}, "the request is empty"},
		{[]string{" \t\n "}, "the request is empty"},
		{[]string{"fix", "the", "tests"}, "put it in quotes"},
		{[]string{"two \xff words"}, "not UTF-8"},
		{[]string{"two \x00 words"}, "a NUL"},
		{[]string{strings.Repeat("word ", MostBytes/5+1)}, "are the most"},
	} {
		if text, err := Request(c.args, commands); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.40q: %.40q, %v; want an error with %q", c.args, text, err, c.why)
		}
	}
}

// What a terminal would obey is quoted in the message.
func TestARefusalIsHarmless(t *testing.T) {
	_, err := Request([]string{"\x1b[31mred"}, commands)
	if err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v", err)
	}
}

func TestRequestAndAnswersBecomeOneText(t *testing.T) {
	got := Markdown("do it\n", []string{" a table\n", "", "nothing fancy"})
	want := "do it\n\n## " + Questions()[0] + "\n\na table\n\n## " + Questions()[2] + "\n\nnothing fancy\n"
	if got != want {
		t.Errorf("%q", got)
	}
}
