package engine

import (
	"slices"
	"testing"
)

// TestSecretsOfSettings: of a YAML or JSON text, by the names that its values have; other
// texts have none here, whatever YAML makes of them.
func TestSecretsOfSettings(t *testing.T) {
	for text, want := range map[string][]string{
		`{"db": {"password": "pa55-word-1", "host": "localhost"}, "keys": ["x9K2mQ7vLp4RtYz81w"]}`: {"pa55-word-1", "x9K2mQ7vLp4RtYz81w"},
		"a: &x {api_key: pa55-word-2}\nb: *x\ntoken:\n- pa55-word-3\n---\nsecret: pa55-word-4\n":   {"pa55-word-2", "pa55-word-3", "pa55-word-4"},
		"API_TOKEN=pa55-word-5\n":                 nil,
		"x9K2mQ7vLp4RtYz81w\n":                    nil,
		"password: pa55-word-6\n\tbroken: [yes\n": nil,
		"": nil,
	} {
		got := settings([]byte(text))
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTheLastLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "a\n\n": "a", "a\nb ": "b", "\n \n": ""} {
		if got := lastLine(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
