package pattern

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFill(t *testing.T) {
	item := json.RawMessage(`{"name":"spec","deep":{"n":1.50,"list":[1, 2]},"yes":true,"none":null,"x":"{{number}}"}`)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain } { text", "plain } { text"},
		{"{{item.name}} and {{ item.name }}", "spec and spec"},
		{"{{number}}/{{item.yes}}", "7/true"},
		{"{{item.deep.n}}", "1.50"},
		{"{{item.deep.list}}", "[1,2]"},
		{"{{item.deep}}", `{"n":1.50,"list":[1,2]}`},
		{`go list -f '\{{.Dir}}' {{item.name}}`, `go list -f '{{.Dir}}' spec`},
		{"{{item.x}}", "{{number}}"}, // a value is data
	} {
		if got, err := Fill(c.text, item, 7); err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	if got, err := Fill("{{item}}", json.RawMessage(`"a \"b\" <c>"`), 1); err != nil || got != `a "b" <c>` {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFillIsStrict(t *testing.T) {
	item := json.RawMessage(`{"name":"spec","none":null}`)
	for _, c := range []struct {
		text   string
		offset int
		says   string
	}{
		{"ab {{itme}}", 3, "did you mean {{item}}?"},
		{"ab {{itme.name}}", 3, "did you mean {{item.name}}?"},
		{"{{.Dir}}", 0, `".Dir" is no variable`},
		{"{{item.}}", 0, "is no variable"},
		{"{{}}", 0, `"" is no variable`},
		{"x {{item", 2, "has no }}"},
		{"{{item.nam}}", 0, `has no field "nam"; did you mean "name"?`},
		{"{{item.none}}", 0, `has no field "none"`},
		{"{{item.name.first}}", 0, "item.name of item 2 is no mapping"},
	} {
		_, err := Fill(c.text, item, 2)
		var fault *FillError
		if !errors.As(err, &fault) || fault.Offset != c.offset || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v (%+v)", c.text, err, fault)
		}
	}
}

func TestFillPathKeepsInside(t *testing.T) {
	for text, says := range map[string]string{
		`"../x"`: "leads outside", `"a/../../x"`: "leads outside", `"/etc"`: "absolute", `"C:\\x"`: "absolute",
		`"\\\\server"`: "absolute", `""`: "empty", `" "`: "empty", `"a\nb"`: "control character",
	} {
		if _, err := FillPath("sub/{{item}}", json.RawMessage(text), 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := FillGlob("{{item}}/**", json.RawMessage(`"a[1]*/b"`), 1); err != nil || got != `a\[1\]\*/b/**` {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMentionsLeavesOtherBracesAlone(t *testing.T) {
	if v, ok := Mentions("go list -f '{{.Dir}}' {{ item.name }}"); !ok || v.Offset != 22 || v.Name != "item.name" {
		t.Errorf("%+v, %v", v, ok)
	}
	for _, text := range []string{"", "{{", "docker ps --format '{{.Names}}'", "{{items}}"} {
		if v, ok := Mentions(text); ok {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"internal/spec": "internal-spec", "main.go": "main.go", "a..b": "a-b", " A b ": "A-b", ".env": "env", "x_1-": "x_1", "a. b": "a-b",
		"--": "", "größe": "", "": "",
	} {
		if got, ok := Slug(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func TestAnyTextIsFilledInAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		item, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Fill("<{{item}}|{{item}}>", item, 3)
		if err != nil || got != "<"+value+"|"+value+">" {
			t.Fatalf("%q, %v", got, err)
		}
	})
}
