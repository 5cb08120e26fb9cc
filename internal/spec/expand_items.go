package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"orchestrate/internal/pattern"
)

// items are what a job is made for each of.
type items struct {
	at       value             // foreach
	of       string            // id of the job that has it
	values   []json.RawMessage // nil each = not known before the run
	suffixes []string          // of the ids
	from     []string          // jobs in whose answers the list is
	path     string
}

// item is the i-th, from 0.
func (l *items) item(i int) *Item {
	it := &Item{Of: l.of, Number: i + 1, Value: l.values[i]}
	if l.from != nil {
		it.From, it.Path, it.Max = l.from, l.path, len(l.values)
	}
	return it
}

// ids are what a reference to the job means.
func (s *source) ids() []string {
	switch {
	case s.all != nil:
	case s.list == nil:
		s.all = []string{s.id}
	default:
		for _, suffix := range s.list.suffixes {
			s.all = append(s.all, s.id+"-"+suffix)
		}
	}
	return s.all
}

// rounds of a job, or votes; 0 = it is there once.
func (s *source) times() int {
	p := s.own.field(s.kind)
	bound := func(key string, fallback, most int64) int {
		return int(min(max(1, p.field(key).integer(fallback)), most))
	}
	switch {
	case s.verifies != nil:
		return s.verifies.times()
	case s.kind == PatternVotes:
		return bound("of", 2, 15)
	case s.kind == PatternUntilDry:
		return bound("rounds", 1, 50)
	case s.kind == PatternRepair:
		return 1 + bound("max", 2, 5)
	}
	return 0
}

// findItems reads the list of a job; a verifier is made for each item of what it verifies.
func (x *expander) findItems(s *source) {
	of := s
	if s.verifies != nil {
		of = s.verifies
	}
	if of.list == nil && of.own.field(PatternForeach).present() {
		of.list = x.items(of)
	}
	s.list = of.list
	s.copies = float64(max(1, s.times()))
	if s.times() > 0 {
		s.copies++
	}
	if s.list != nil {
		s.copies *= float64(len(s.list.values))
	}
}

// items reads foreach; nil = nothing can be made of it, which was said.
func (x *expander) items(s *source) *items {
	at := s.own.field(PatternForeach)
	l := &items{at: at, of: s.id}
	switch {
	case x.spoiled[at.path] || x.spoiled[at.field("max").path] || x.spoiled[at.field("from_job").path]:
		return nil
	case at.t.kind == kindMap:
		l.values = make([]json.RawMessage, min(max(0, at.field("max").integer(0)), 1000))
		l.path = at.field("path").or("$")
		x.jsonPath(at.field("path"))
		if !x.listMaker(s, at.field("from_job")) {
			return nil
		}
	default:
		for i := range at.list() {
			if item := at.item(i); !x.spoiled[item.path] {
				l.values = append(l.values, item.t.json())
			}
		}
	}
	if len(l.values) == 0 {
		return nil
	}
	l.suffixes = numbers(len(l.values))
	if at.t.kind == kindList {
		if slugs := s.slugs(at); slugs != nil {
			l.suffixes = slugs
		}
	}
	return l
}

// listMaker checks the job in whose answer a list is to be.
func (x *expander) listMaker(s *source, v value) bool {
	from := x.byID[v.text()]
	if from == nil || from != s && from != s.verifier {
		return true
	}
	x.failf(v, "cycle", "the list of %s cannot come from itself; name another job", quote(s.id))
	return false
}

func numbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i + 1)
	}
	return out
}

// slugs are the items as parts of ids, nil unless all can be and all ids are unique.
func (s *source) slugs(at value) []string {
	var out []string
	taken := map[string]bool{}
	for i := range at.list() {
		slug, ok := pattern.Slug(at.item(i).text())
		if !ok {
			return nil
		}
		names := append(numbered(slug, s.times()), slug)
		for _, name := range names {
			if low := strings.ToLower(name); taken[low] || !s.canBe(name) {
				return nil
			} else {
				taken[low] = true
			}
		}
		out = append(out, slug)
	}
	return out
}

// maxID bounds an id, as the schema does.
const maxID = 64

// canBe reports whether an id that ends in the suffix is one, for the verifier's too.
func (s *source) canBe(suffix string) bool {
	for _, of := range []*source{s, s.verifier} {
		if of == nil {
			continue
		}
		if id := of.id + "-" + suffix; len(id) > maxID || badID(id) != "" {
			return false
		}
	}
	return true
}

// json is the tree as JSON, mappings in the order in which they are written.
func (t *tree) json() json.RawMessage {
	var b bytes.Buffer
	t.writeJSON(&b)
	return b.Bytes()
}

func (t *tree) writeJSON(b *bytes.Buffer) {
	switch t.kind {
	case kindList:
		b.WriteByte('[')
		for i, item := range t.items {
			comma(b, i)
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case kindMap:
		b.WriteByte('{')
		for i, key := range t.keys {
			comma(b, i)
			scalarJSON(b, key)
			b.WriteByte(':')
			t.fields[key].writeJSON(b)
		}
		b.WriteByte('}')
	case kindNumber:
		if json.Valid([]byte(t.text)) { // as it is written: 1.50 stays so
			b.WriteString(t.text)
			return
		}
		scalarJSON(b, t.number)
	default:
		scalarJSON(b, t.plain())
	}
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// scalarJSON writes a text, a number, a flag or null; what a document holds can be written.
func scalarJSON(b *bytes.Buffer, v any) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("a value of a document is not JSON: " + err.Error())
	}
	b.Truncate(b.Len() - 1) // the line break that the encoder adds
}
