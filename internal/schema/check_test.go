package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// files are the schemas that the program holds things against.
var files = []string{"../spec/schema.json", "../arbiter/answer.schema.json"}

// TestAgreesWithTheWholeOfJSONSchema makes documents that are nearly right and
// holds this package's opinion against the library's.
func TestAgreesWithTheWholeOfJSONSchema(t *testing.T) {
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := MustCompile(text), library(t, text)
			right, wrong := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				doc := value(t, ours.root, 0)
				faults, err := ours.Check(doc), theirs.Validate(doc)
				if (len(faults) > 0) != (err != nil) {
					t.Fatalf("here %v, there %v\n%v", faults, err, doc)
				}
				if err == nil {
					right++
				} else {
					wrong++
				}
			})
			if right == 0 || wrong == 0 {
				t.Errorf("%d documents were right and %d wrong, so half of this test is missing", right, wrong)
			}
		})
	}
}

func library(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///s.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("file:///s.json")
}

// value is mostly as the schema says.
func value(t *rapid.T, n *node, depth int) any {
	if seldom(t) {
		return rapid.SampledFrom([]any{nil, true, "", "x", " y", "a b\n", strings.Repeat("a", 65), int64(0), int64(7), 0.5, 3.0, 1e300, []any{}, []any{nil}, map[string]any{}, map[string]any{"x": "y"}}).Draw(t, "value")
	}
	for n.ref != nil && n.properties == nil {
		n = n.ref
	}
	switch {
	case n.constant != nil:
		return n.constant
	case n.enum != nil:
		return rapid.SampledFrom(n.enum).Draw(t, "enum")
	case n.types == nil && n.properties != nil:
		return object(t, n, depth)
	}
	switch rapid.SampledFrom(n.types).Draw(t, "type") {
	case "string":
		fits := slices.DeleteFunc([]string{"a", "HEAD", "10m", "1h30m", "<x>", "a.b", "a b", strings.Repeat("0a", 32)}, func(s string) bool {
			return n.pattern != nil && !n.pattern.MatchString(s)
		})
		return rapid.SampledFrom(append(fits, "a")).Draw(t, "text")
	case "boolean":
		return rapid.Bool().Draw(t, "truth")
	case "integer":
		return int64(rapid.IntRange(0, 10).Draw(t, "integer"))
	case "number":
		return rapid.SampledFrom([]any{int64(0), 0.0, 0.5, int64(3)}).Draw(t, "number")
	case "array":
		var items []any
		low := int(n.bounds["minItems"])
		high := low + 2
		if limit, ok := n.bounds["maxItems"]; ok && !seldom(t) {
			high = min(high, int(limit))
		}
		for range rapid.IntRange(low, high).Draw(t, "length") {
			items = append(items, value(t, n.items, depth+1))
		}
		return append([]any{}, items...)
	case "object":
		return object(t, n, depth)
	}
	return nil
}

// seldom is true once in some hundred times; small numbers are drawn more often.
func seldom(t *rapid.T) bool { return rapid.IntRange(0, 300).Draw(t, "seldom") == 217 }

func object(t *rapid.T, n *node, depth int) map[string]any {
	out := map[string]any{}
	chance := 1 + 4*depth // deeper ones hold fewer of what they may hold
	for at := n; at != nil; at = at.ref {
		for key, p := range at.properties {
			if slices.Contains(at.required, key) && !seldom(t) || rapid.IntRange(0, chance).Draw(t, "has "+key) == 0 {
				out[key] = value(t, p, depth+1)
			}
		}
	}
	if seldom(t) {
		out["unknown"] = "x"
	}
	return out
}

// TestFaults says what each kind of fault looks like.
func TestFaults(t *testing.T) {
	s := MustCompile([]byte(`{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
		"a": {"$ref": "#/$defs/word", "minLength": 2}, "n": {"type": "integer", "minimum": 1, "maximum": 3}, "x": {"type": "number", "exclusiveMinimum": 0},
		"l": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": ["p", 1, null]}}, "c": {"const": 1}},
		"$defs": {"word": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}}}`))
	for doc, want := range map[string]string{
		`{"a": "ab", "n": 3.0, "x": 0.1, "l": ["p", null], "c": 1.0}`: "",
		`[]`:                              "at '/': not of type object",
		`{"b": 1, "d": 2}`:                "at '/': unknown 'b', 'd' | at '/': missing 'a'",
		`{"a": "A"}`:                      "at '/a': pattern is ^[a-z]+$ | at '/a': minLength is 2",
		`{"a": "abcd"}`:                   "at '/a': maxLength is 3",
		`{"a": "ab", "n": 1.5}`:           "at '/n': not of type integer",
		`{"a": "ab", "n": 0, "x": 0}`:     "at '/n': minimum is 1 | at '/x': exclusiveMinimum is 0",
		`{"a": "ab", "n": 4}`:             "at '/n': maximum is 3",
		`{"a": "ab", "l": []}`:            "at '/l': minItems is 1",
		`{"a": "ab", "l": ["p", "q", 1]}`: "at '/l': maxItems is 2 | at '/l/1': must be one of [p 1 <nil>]",
		`{"a": "ab", "c": 2}`:             "at '/c': const is 1",
	} {
		var v any
		if err := json.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Check(v) {
			got = append(got, fmt.Sprint(f))
		}
		if text := strings.Join(got, " | "); text != want {
			t.Errorf("%s:\n got %s\nwant %s", doc, text, want)
		}
	}
}

// TestNoKeywordIsPassedOver refuses schemas that this package does not understand.
func TestNoKeywordIsPassedOver(t *testing.T) {
	for _, text := range []string{
		`{"oneOf": []}`, `{"properties": {"a": {"format": "date"}}}`, `{"items": {"not": {}}}`, `{"$ref": "other.json"}`, `{"$ref": "#/$defs/a"}`,
		`{"type": 1}`, `{"pattern": "("}`, `{"additionalProperties": {}}`, `{"minimum": "1"}`, `{"properties": []}`, `[]`,
	} {
		if _, err := Compile([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
