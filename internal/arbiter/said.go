package arbiter

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"orchestrate/internal/untrusted"
)

// statement is one thing that an answer says.
type statement struct {
	kind string // overall, job, assertion, question, citation; or a list, of which it is an item
	name string // of what; "" = it cannot be told. An item itself.
	word string // pass, fail, yes …, of a citation its kind; "" = an item
}

// The kinds of statements, beside those of listKinds.
const (
	ofOverall   = "overall"
	ofJob       = "job"
	ofAssertion = "assertion"
	ofQuestion  = "question"
	ofCitation  = "citation"
)

// listKinds are the lists of an answer, each by its plain key and by what its items are.
var listKinds = map[string]string{
	"contradictions": "contradictions", "unsupportedclaims": "unsupported claims", "safetygaps": "safety gaps", "unresolvedquestions": "unresolved questions",
}

// shortKinds are what may be said in short: {"jobs": {"a": "fail"}}.
var shortKinds = map[string]string{"jobs": ofJob, "assertions": ofAssertion, "questions": ofQuestion}

// notNames are the keys that name nothing in what is said in short.
var notNames = []string{"overall", "job", "verdict", "why", "n", "answer", "name", "holds"}

// proseOverall is the whole verdict outside of braces.
var proseOverall = regexp.MustCompile("(?i)\\boverall[\"*`]*\\s*[:=][\\s\"*`]*(passed|pass|failed|fail|blocked)\\b")

// saidIn is what an answer says, in whatever form it can be read.
func saidIn(text string) (all []statement) {
	for _, piece := range betweenFences(text) {
		nodes, prose := loosely(piece)
		for _, n := range nodes {
			all = n.says(all, "")
		}
		for _, m := range proseOverall.FindAllStringSubmatch(prose, -1) {
			all = append(all, statement{ofOverall, "", plainWord(m[1])})
		}
	}
	return all
}

// betweenFences parts a text at the lines that open or close a fence, so that what is
// wrong with one piece hides nothing of another.
func betweenFences(text string) (pieces []string) {
	var w strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t>"), "```") {
			pieces = append(pieces, w.String())
			w.Reset()
			continue
		}
		w.WriteString(line)
	}
	return append(pieces, w.String())
}

// says adds what an object says, by the keys that it has, wherever it stands. job is
// the one that it is a part of.
func (n node) says(all []statement, job string) []statement {
	job = cmp.Or(n.last("job", len(n.kids)), job)
	for i, kid := range n.kids {
		said := statement{word: plainWord(kid.word)}
		switch key := plainKey(kid.key); {
		case key == "overall":
			said.kind = ofOverall
		case key == "verdict":
			job = cmp.Or(n.last("job", i), job, n.key)
			said.kind, said.name = ofJob, job
		case key == "holds":
			said.kind, said.name = ofAssertion, job+": "+cmp.Or(n.last("name", i), n.key)
		case key == "answer":
			said.kind, said.name = ofQuestion, digits(cmp.Or(n.last("n", i), n.key))
		case key == "ref":
			said = statement{ofCitation, kid.word, n.last("kind", i)}
			if !slices.Contains(citable, said.word) {
				continue // its form is to be mended
			}
		case listKinds[key] != "":
			all = kid.items(all, listKinds[key])
			continue
		case shortKinds[key] != "":
			all = kid.inShort(all, shortKinds[key], job)
		}
		if said.kind != "" && said.word != "" {
			all = append(all, said)
		}
		all = kid.says(all, job)
	}
	return all
}

// near bounds how far from a key is looked for what it is about.
const near = 50

// last is the word of the last member with this key before another, else of the first
// behind it.
func (n node) last(key string, before int) string {
	for i := before - 1; i >= max(before-near, 0); i-- {
		if plainKey(n.kids[i].key) == key {
			return n.kids[i].word
		}
	}
	for i := before; i < min(before+near, len(n.kids)); i++ {
		if plainKey(n.kids[i].key) == key {
			return n.kids[i].word
		}
	}
	return ""
}

func (n node) inShort(all []statement, kind, job string) []statement {
	for _, kid := range n.kids {
		said := statement{kind, kid.key, plainWord(kid.word)}
		switch kind {
		case ofAssertion:
			said.name = job + ": " + kid.key
		case ofQuestion:
			said.name = digits(kid.key)
		}
		if kid.key != "" && said.word != "" && len(kid.kids) == 0 && !slices.Contains(notNames, plainKey(kid.key)) {
			all = append(all, said)
		}
	}
	return all
}

// items adds those of a list, which may be one for itself.
func (n node) items(all []statement, kind string) []statement {
	texts := []string{n.word}
	for _, kid := range n.kids {
		texts = append(texts, kid.text())
	}
	for _, text := range texts {
		if !slices.Contains([]string{"", "none", "n/a", "null", "no", "-"}, plainWord(text)) {
			all = append(all, statement{kind, text, ""})
		}
	}
	return all
}

// text is all that is said in a node.
func (n node) text() string {
	said := n.word
	for _, kid := range n.kids {
		said = strings.TrimSpace(said + " " + kid.text())
	}
	return said
}

func keep(s string, ok func(rune) bool) string {
	return strings.Map(func(c rune) rune {
		if ok(c) {
			return c
		}
		return -1
	}, s)
}

// plainKey forgives how a key is spelled: safety_gaps, Safety Gaps.
func plainKey(key string) string { return strings.ToLower(keep(key, unicode.IsLetter)) }

func digits(s string) string { return keep(s, unicode.IsDigit) }

// plainWord is a short word as it is compared.
func plainWord(word string) string {
	word = strings.ToLower(strings.Trim(word, " \t\r\n.!`*'\""))
	for plain, others := range map[string][]string{
		"pass": {"passed", "passes"}, "fail": {"failed", "fails"}, "yes": {"true"}, "no": {"false"},
	} {
		if slices.Contains(others, word) {
			return plain
		}
	}
	return untrusted.From(word).Line(40)
}

// of names what a statement is about.
func (s statement) of() string {
	switch s.kind {
	case ofOverall:
		return ofOverall
	case ofCitation:
		return fmt.Sprintf("the cited %s %q", s.word, untrusted.From(s.name).Line(maxName))
	case ofAssertion:
		job, name, _ := strings.Cut(s.name, ": ")
		return fmt.Sprintf("the assertion %q of job %s", name, job)
	}
	return strings.TrimSpace(s.kind + " " + untrusted.From(s.name).Line(maxName))
}

// String says it whole.
func (s statement) String() string {
	switch {
	case s.kind == ofCitation:
		return s.of()
	case s.word == "":
		return fmt.Sprintf("%s: %s", s.kind, untrusted.From(s.name).Line(maxName))
	}
	return s.of() + ": " + s.word
}
