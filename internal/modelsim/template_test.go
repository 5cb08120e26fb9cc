package modelsim_test

import (
	"encoding/json"
	"testing"

	"orchestrate/internal/modelsim"
)

// A scripted model uses what its tools said before: the id of a run it started.
func TestAValueIsFoundInEarlierResults(t *testing.T) {
	results := []any{`{"runId":"r-1","attempt":"a.a1.00"} and again {"runId":"r-2"}`, `{"attempt":"a.a2.ff"}`, `{"prompt":"say \"x\"\nor C:\\"}`, `nothing of the kind, C:\ "x"`}
	for pattern, want := range map[string]string{
		`{{find "runId":"([^"]+)"}}`:                       "r-2", // the last of the newest text that has any
		`{{ find "attempt":"([^"]+)" }}`:                   "a.a2.ff",
		`in {{find r-\d}} now`:                             "in r-2 now", // without a group: all of it
		`{{find (?:kind|sort)}}, {{find a\.a[0-9]{1} }}`:   "kind, a.a2",
		`{{find "prompt":"((?:[^"\\]|\\.)*)"}}`:            "say \"x\"\nor C:\\", // as the document means it
		`{{find C:.*}}`:                                    `C:\ "x"`,            // no document's
		`{{find if you (like)}}`:                           "like",               // the user said it, no tool
		`{{find absent}}`:                                  "{{find absent}}",
		`{{find (}}`:                                       "{{find (}}",
		`{{find "runId":"([^"]+)"}}/{{find nothing (of)}}`: "r-2/of",
	} {
		scenario, err := json.Marshal(map[string]any{"rules": []any{map[string]any{"do": []any{map[string]any{"text": pattern}}}}})
		if err != nil {
			t.Fatal(err)
		}
		l := start(t, string(scenario), modelsim.Options{})
		messages := []any{map[string]any{"role": "user", "content": `take "runId":"r-0", if you like`}}
		for _, r := range results {
			messages = append(messages, map[string]any{"role": "tool", "content": r})
		}
		body, err := json.Marshal(map[string]any{"model": "m", "messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		if got := at(decoded(t, l.post(chatPath, string(body)).body), "choices", 0, "message", "content"); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestNothingIsFoundWithoutResults(t *testing.T) {
	l := start(t, `rules: [{do: [{text: "{{find .}}"}]}]`, modelsim.Options{})
	if got := at(decoded(t, l.post(chatPath, `{"messages":[]}`).body), "choices", 0, "message", "content"); got != "{{find .}}" {
		t.Errorf("%q", got)
	}
}
