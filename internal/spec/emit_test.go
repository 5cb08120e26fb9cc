package spec

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// TestWrittenTextIsReadBack holds the writer of jobs.yaml against the library's
// reader, with texts that look like something else to YAML.
func TestWrittenTextIsReadBack(t *testing.T) {
	odd := []string{
		"", " ", "~", "null", "Null", "yes", "On", "1", "0x1f", "1e3", "-.inf", ".5", "2026-01-02", "12:30:00", "10m", "1h30m", "24h",
		"- a", "? a", "a: b", "a #b", "#a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a`", "'a'", "\"a\"", "{a}", "[a]", "a,b", "<<", "=",
		"a\nb", "a\nb\n", "a\n\n", "a\n\nb", "\na", " a\nb", "\ta\nb", "a\n  b\n", "a\n \n", "a\n\t\nb", "a \nb", "a\r\nb", "\u0085", "\u2028a\nb",
		"\ufeff", "é ü 日本", "a\u00a0b", "---", "...", "---\na", "a\\b", "C:\\x", "/bin/true", "a/b-c_d.e+f", "é\nü", "\x7f", "😀\n😀",
	}
	text := rapid.OneOf(rapid.SampledFrom(odd), rapid.StringMatching(`[a-z0-9 :#\-"'\n\t\\{}\[\],&*!|>%@~=<.]{0,20}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{
			"text": text.Draw(t, "text"),
			"list": []any{text.Draw(t, "first"), []any{text.Draw(t, "inner")}, map[string]any{"a": text.Draw(t, "deep"), "b": "end"}},
		}
		w := mapping{}
		list := want["list"].([]any)
		w.add("text", want["text"])
		inner := mapping{}
		inner.add("a", list[2].(map[string]any)["a"])
		inner.add("b", "end")
		w.add("list", []any{list[0], list[1], inner})
		var b bytes.Buffer
		emit(&b, w.node(), 0)
		var got map[string]any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, b.Bytes())
		}
	})
}
