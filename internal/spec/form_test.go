package spec

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/schema"
)

// open is a kind of document in which anything may stand.
var open = FormKind{Holds: "a mapping", Limit: 1 << 20, Schema: schema.MustCompile([]byte(`{"type": "object"}`))}

func TestAPlaceInJSONIsThatOfItsCharacter(t *testing.T) {
	f := ReadForm("f.json", []byte("{\"ä\": [1, \"é\",\n\t{\"k\": true}], \"\\ud83d\\ude00\": -1.5e3}"), open, nil)
	for at, want := range map[string]string{"ä": "1:7", "ä 0": "1:8", "ä 1": "1:11", "ä 2": "2:2", "ä 2 k": "2:8", "\U0001F600": "2:32", "gone": "1:1", "ä 2 gone": "2:2"} {
		pos, _ := f.Place(strings.Fields(at)...)
		if got := fmt.Sprintf("%d:%d", pos.Line, pos.Col); got != want {
			t.Errorf("%s is at %s, want %s", at, got, want)
		}
	}
	if got := fmt.Sprint(f.Plain()); got != "map[ä:[1 é map[k:true]] \U0001F600:-1500]" {
		t.Errorf("it is read as %s", got)
	}
}

func TestWhatIsNoDocumentIsSaidOnce(t *testing.T) {
	deep := strings.Repeat("[", 80) + strings.Repeat("]", 80)
	for text, want := range map[string]string{
		"":                       "1:1 the document is empty",
		"[]":                     "1:1 found a list; allowed: a mapping",
		"{\"a\": \xff}":          "1:7 the byte 0xff is not UTF-8",
		"{\"a\": 1e999}":         "1:7 found 1e999; allowed: a finite number",
		"{\"a\": 1,\n \"a\": 2}": "2:2 the key \"a\" is given twice; the first is on line 1",
		"{\"a\": 1 \"b\": 2}":    "1:9 not valid JSON",
		"{\"a\": tru}":           "1:7 not valid JSON",
		"{\"a\": \"x":            "1:9 not valid JSON: it ends in the middle",
		"{} {}":                  "1:4 something follows the end",
		"{\"a\": " + deep + "}":  "nest more than 64 deep",
		"{\"a\": \"" + strings.Repeat("x", 1<<20) + "\"}": "at most 1048576 (1 MiB) are read",
	} {
		f := ReadForm("f.json", []byte(text), open, nil)
		diags := f.Diagnostics()
		if len(diags) != 1 || f.Plain() != nil {
			t.Errorf("%.40q: %d mistakes, %v", text, len(diags), f.Plain())
			continue
		}
		if got := fmt.Sprintf("%d:%d %s", diags[0].Pos.Line, diags[0].Pos.Col, diags[0].Message); !strings.Contains(got, want) {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": "\ud83d\ude00"}], "c": null}`))
	f.Add([]byte("{\"a\":\n\n\"b\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		form := ReadForm("f.json", data, open, nil)
		lines := strings.Count(string(data), "\n") + 1
		for _, d := range form.Diagnostics() {
			if d.Pos.Line < 1 || d.Pos.Line > lines || d.Pos.Col < 1 {
				t.Errorf("%q: a mistake at %d:%d", data, d.Pos.Line, d.Pos.Col)
			}
		}
	})
}
