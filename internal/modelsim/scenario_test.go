package modelsim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/modelsim"
)

func TestAScenarioIsReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`rules: [{name: r, doo: []}]`:                             "doo",
		`rules: [{name: r}]`:                                      "r: do is missing",
		`rules: [{do: [{text: a, hang: true}]}]`:                  "rules[0]: do[0]: a step does exactly one thing; this one does 2",
		`rules: [{do: [{}]}]`:                                     "this one does 0",
		`rules: [{do: [{text: a}, {status: {code: 500}}]}]`:       "do[1]: a status comes before",
		`rules: [{do: [{status: {code: 200}}]}]`:                  "allowed is 400 to 599",
		`rules: [{do: [{tool: {input: {}}}]}]`:                    "tool needs names",
		`rules: [{do: [{write: {content: x}}]}]`:                  "write needs a path",
		`rules: [{api: other, do: [{text: a}]}]`:                  `api is "other"`,
		`rules: [{matches: "(", do: [{text: a}]}]`:                "matches: ",
		`rules: [{require: [A], do: [{text: a}]}]`:                "require and otherwise",
		`{"rules": [{"do": [{"text": "a"}], "otherwise": [{}]}]}`: "otherwise[0]",
	} {
		if _, err := modelsim.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(`{"rules": [{"do": [{"text": "a"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := modelsim.Load(path); err != nil || len(s.Rules) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.WriteFile(path, []byte(`{"rulez": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := modelsim.Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if _, err := modelsim.Load(path + "x"); err == nil {
		t.Error("a file that is not there is loaded")
	}
}
