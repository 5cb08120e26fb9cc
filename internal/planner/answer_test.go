package planner

import (
	"strings"
	"testing"

	"orchestrate/internal/untrusted"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, answer, spec, none string }{
		{"fenced", "Here:\n```yaml\nversion: 1\n```\nDone.", "version: 1\n", ""},
		{"yml, tildes, carriage returns", "~~~yml\r\nversion: 1\r\n~~~\r\n", "version: 1\n", ""},
		{"capital", "```YAML\nversion: 1\n```", "version: 1\n", ""},
		{"a fence inside", "```yaml\nprompt: |\n      ```go\n      x\n      ```\nversion: 1\n```", "prompt: |\n      ```go\n      x\n      ```\nversion: 1\n", ""},
		{"a longer fence", "````yaml\na: |\n ```\nb\n````", "a: |\n ```\nb\n", ""},
		{"other blocks beside it", "```go\nx\n```\n```yaml\nversion: 1\n```\n```\ny\n```", "version: 1\n", ""},
		{"bare", "\nversion: 1\njobs: []", "version: 1\njobs: []\n", ""},
		{"none", "I looked.\n```none\none agent\ndoes it\n```", "", "one agent does it"},
	} {
		got, err := Parse(untrusted.From(c.answer))
		if err != nil || got.Spec != c.spec || got.None.Line(0) != c.none {
			t.Errorf("%s: %q %q, %v", c.name, got.Spec, got.None.Line(0), err)
		}
	}
}

func TestParseRefusesTheForm(t *testing.T) {
	for answer, why := range map[string]string{
		"a poem":                                   "no fenced block called yaml",
		"```\nversion: 1\n```":                     "no fenced block called yaml",
		"```json\n{}\n```":                         "no fenced block called yaml",
		"```yaml\na: 1\n```\n```yaml\nb: 1\n```":   "exactly one",
		"```yaml\na: 1\n```\n```none\nwhy\n```":    "exactly one",
		"```none\n\n```":                           "is empty",
		"```yaml\n```":                             "the block called yaml is empty, or the answer was cut off",
		"```yaml\n \n```":                          "the block called yaml is empty, or the answer was cut off",
		"```yaml":                                  "the block called yaml is empty, or the answer was cut off",
		"Here:\n```yaml\nversion: 1\n":             "the block called yaml is empty, or the answer was cut off",
		"the version: 1 of this is not a document": "no fenced block",
	} {
		if got, err := Parse(untrusted.From(answer)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %+v, %v", answer, got, err)
		}
	}
}
