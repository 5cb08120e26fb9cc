package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONStaysJSON(t *testing.T) {
	const value = `pa"ss\word` + "\n9-Xq"
	red := New([]string{value})
	nested, err := json.Marshal(map[string]string{"inner": value})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(map[string]any{
		"plain": value, "nested": string(nested), "key " + value: 1, "count": 12345678,
		"escape": "line\npm_16C7e42F292c6912E7710c838347Ae178B4axyz", "list": []string{"API_TOKEN", "PYTHON3_HOME_17x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := red.JSON(doc)
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	if strings.Contains(string(out), "ss\\") || strings.Contains(string(out), "9-Xq") {
		t.Errorf("shows it: %s", out)
	}
	for _, kept := range []string{`"count":12345678`, `"PYTHON3_HOME_17x"`, `"plain":"[REDACTED:exact]"`} {
		if !strings.Contains(string(out), kept) {
			t.Errorf("no %s in %s", kept, out)
		}
	}
}

func TestJSONWithoutSecretIsItself(t *testing.T) {
	in := []byte(`{"a": "b", "c": "\u00e4"}`)
	if out := New([]string{"s3cr3t-Value-42"}).JSON(in); &out[0] != &in[0] {
		t.Errorf("copied: %s", out)
	}
}
