package report

import "testing"

// A command in a next step can be copied from the file as it is; what could act around it
// cannot.
func TestACommandInAStepIsACodeSpan(t *testing.T) {
	for s, want := range map[string]string{
		"`orchestrate resume 1` goes on":          "`orchestrate resume 1` goes on",
		"say `a_b: [1]` or *not*, then `x`":       "say `a_b: [1]` or \\*not\\*, then `x`",
		"`a`_b_ `c`#d":                            "`a`\\_b\\_ `c`#d",
		"# `a`":                                   "\\# `a`",
		"1. `a`":                                  "1\\. `a`",
		"one ` alone":                             "one \\` alone",
		"`a` and ` alone <b>":                     "`a` and \\` alone \\<b>",
		"``a`` is ``` none":                       "\\`\\`a\\`\\` is \\`\\`\\` none",
		"[`a`](http://x) `http://y`":              "\\[`a`\\](http\\://x) `http://y`",
		"ends in a \\`b`":                         "ends in a \\\\`b`",
		"cost: $0.2000 of $5 (`echo \\$HOME $x`)": "cost: $0.2000 of $5 (`echo \\$HOME $x`)",
		"$x$ $$5$$ $":                             "\\$x\\$ \\$$5\\$\\$ \\$",
		"":                                        nothing,
	} {
		if got := step(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := prose("$0.20, `x`"); got != "$0.20, \\`x\\`" {
		t.Errorf("%q", got)
	}
}
