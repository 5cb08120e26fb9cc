package pattern

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct{ text, want, err string }{
		"alone":                {" {\"a\": 1}\n", `{"a":1}`, ""},
		"a fenced block":       {"I looked.\n\n```json\n{\"a\": [1]}\n```\nThat is all.\n", `{"a":[1]}`, ""},
		"an indented fence":    {"  ```\n  [1]\n  ```\n", `[1]`, ""},
		"a longer fence":       {"````\n\"```\"\n````\n", "\"```\"", ""},
		"a fence left open":    {"```json\n{}\n", `{}`, ""},
		"a big number":         {"{\"n\": 12345678901234567890.10}", `{"n":12345678901234567890.10}`, ""},
		"no escaping":          {`["<a> & b"]`, `["<a> & b"]`, ""},
		"nothing":              {"", "", ErrNoJSON.Error()},
		"words":                {"it passes", "", ErrNoJSON.Error()},
		"two blocks":           {"```\n1\n```\n```\n2\n```\n", "", "2 fenced blocks"},
		"a block of something": {"```go\nfunc f()\n```\n", "", "is no JSON"},
		"two documents":        {`{} {}`, "", ErrNoJSON.Error()},
	} {
		doc, err := Answer(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, error %v, want %q", name, doc, err, c.err)
			}
			continue
		}
		got, bad := Compact(doc)
		if err != nil || bad != nil || string(got) != c.want {
			t.Errorf("%s: %s, error %v", name, got, err)
		}
	}
}

func TestVerdictOf(t *testing.T) {
	for name, c := range map[string]struct {
		answer, field, accept, value string
		accepted                     bool
		err                          string
	}{
		"accepted":        {`{"verdict": " Pass "}`, "verdict", "pass", "Pass", true, ""},
		"rejected":        {`{"verdict": "fail"}`, "verdict", "pass", "fail", false, ""},
		"a path":          {`{"r": {"ok": true}}`, "$.r.ok", "true", "true", true, ""},
		"a number":        {`{"score": 10}`, "score", "10", "10", true, ""},
		"a field too few": {`{"verdicts": "pass"}`, "verdict", "pass", "", false, `no "verdict"`},
		"several":         {`{"a": [{"v": 1}, {"v": 2}]}`, "$.a[*].v", "1", "", false, "2 of"},
		"a mapping":       {`{"verdict": {"is": "pass"}}`, "verdict", "pass", "", false, "no verdict"},
		"empty":           {`{"verdict": " "}`, "verdict", "", "", false, "no verdict"},
		"null":            {`{"verdict": null}`, "verdict", "pass", "", false, "no verdict"},
		"a list":          {`["pass"]`, "verdict", "pass", "", false, `no "verdict"`},
		"only words":      {"pass", "verdict", "pass", "", false, ErrNoJSON.Error()},
		"a bad path":      {`{}`, "$.[", "pass", "", false, "no JSONPath"},
	} {
		value, accepted, err := VerdictOf(c.answer, c.field, c.accept)
		if value != c.value || accepted != c.accepted || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v, error %v", name, value, accepted, err)
		}
	}
}

func TestItems(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		path    string
		want    string
		err     string
	}{
		"one array":         {[]string{`{"m": ["a", {"b": 1}, 2, true]}`}, "$.m", `"a" {"b":1} 2 true`, ""},
		"several matches":   {[]string{`{"f": [{"id": "x"}, {"id": "y"}]}`}, "$.f[*].id", `"x" "y"`, ""},
		"the answer itself": {[]string{"```\n[1, 2]\n```"}, "$", "1 2", ""},
		"of several":        {[]string{`["a"]`, `["b", "c"]`}, "$", `"a" "b" "c"`, ""},
		"none":              {[]string{`{"m": []}`}, "$.m", "", ""},
		"not there":         {[]string{`{"n": []}`}, "$.m", "", "nothing at $.m"},
		"no list":           {[]string{`{"m": "a"}`}, "$.m", "", "no list"},
		"one match of many": {[]string{`{"f": [{"id": "x"}]}`}, "$.f[*].id", `"x"`, ""},
		"no match of many":  {[]string{`{"f": []}`}, "$.f[*].id", "", ""},
		"null in it":        {[]string{`["a", null]`}, "$", "", "item 2 of the list at $: it is null"},
		"a list in it":      {[]string{`[["a"]]`}, "$", "", "item 1"},
		"words":             {[]string{"a, b"}, "$", "", ErrNoJSON.Error()},
	} {
		items, err := Items(c.answers, c.path)
		var got []string
		for _, i := range items {
			got = append(got, string(i))
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}

func TestTally(t *testing.T) {
	yes, no, none := Vote{"pass", true}, Vote{"fail", false}, Vote{}
	for _, c := range []struct {
		votes   []Vote
		require int
		enough  bool
		words   string
	}{
		{[]Vote{yes, yes, no}, 2, true, "2 of 3 accepted, 2 required: pass, pass, fail"},
		{[]Vote{yes, no, none}, 2, false, "1 of 3 accepted, 2 required: pass, fail, no verdict"},
		{[]Vote{none, none}, 1, false, "0 of 2 accepted, 1 required: no verdict, no verdict"},
		{[]Vote{{Verdict: strings.Repeat("ä", 40)}, yes}, 1, true, "1 of 2 accepted, 1 required: " + strings.Repeat("ä", 20) + "…, pass"},
	} {
		_, enough, words := Tally(c.votes, c.require)
		if enough != c.enough || words != c.words {
			t.Errorf("%v: %v, %q", c.votes, enough, words)
		}
	}
}

func TestDry(t *testing.T) {
	for name, c := range map[string]struct {
		rounds    [][]string
		stopAfter int
		dry       bool
		fresh     []int
	}{
		"no round yet":            {nil, 2, false, nil},
		"one found nothing":       {[][]string{{"a"}, {}}, 2, false, []int{1, 0}},
		"two found nothing new":   {[][]string{{"a", "b"}, {"a"}, {"b", "b"}}, 2, true, []int{2, 0, 0}},
		"something in between":    {[][]string{{}, {"a"}, {}}, 2, false, []int{0, 1, 0}},
		"nothing from the start":  {[][]string{{}, {}}, 2, true, []int{0, 0}},
		"the same twice in one":   {[][]string{{"a", "a"}}, 1, false, []int{1}},
		"new ones after dry ones": {[][]string{{}, {}, {"a"}}, 2, false, []int{0, 0, 1}},
	} {
		dry, fresh := Dry(c.rounds, c.stopAfter)
		if dry != c.dry || !cmp.Equal(fresh, c.fresh) {
			t.Errorf("%s: %v, %v", name, dry, fresh)
		}
	}
}

// TestFoundKeepsEachKeyOnceInOrder: also of so many that comparing all with all would not end.
func TestFoundKeepsEachKeyOnceInOrder(t *testing.T) {
	if diff := cmp.Diff([]string{"b", "a", "c"}, Found([][]string{{"b", "a", "b"}, nil, {"c", "a"}})); diff != "" {
		t.Error(diff)
	}
	if got := Found(nil); got == nil || len(got) > 0 {
		t.Errorf("of no rounds: %#v, want an empty list", got)
	}
	many := make([]string, 2_000_000)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	if got := Found([][]string{many, many}); len(got) != len(many) {
		t.Errorf("%d of %d keys", len(got), len(many))
	}
}

func TestKeys(t *testing.T) {
	got, err := Keys(`{"findings": [{"id": "a"}, {"id": 2}, {"x": 0}, {"id": {"n": 1}}]}`, "$.findings[*].id")
	if diff := cmp.Diff([]string{"a", "2", `{"n":1}`}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := Keys(`{"findings": []}`, "$.findings[*].id"); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Keys("nothing found", "$.id"); err == nil {
		t.Error("words have keys")
	}
}
