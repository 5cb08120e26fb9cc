package arbiter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"orchestrate/internal/untrusted"
)

// Softened lists where an answer that was only to be given in another form is more
// favourable than the first one in anything, as far as that can be read at all. A
// judgement that changes when it is asked for again is no judgement.
func Softened(first untrusted.Text, second Verdict, r Reader) (changed []string) {
	data, err := json.Marshal(second)
	if err != nil {
		return []string{err.Error()} // nothing can be compared with it
	}
	was, now := saidIn(first.Unshown()), saidIn(string(data))
	for _, s := range was {
		switch {
		case s.kind == ofCitation:
			changed = append(changed, s.dropped(now, r)...)
		case s.word != "":
			changed = append(changed, s.mended(now)...)
		}
	}
	for _, kind := range slices.Sorted(maps.Values(listKinds)) {
		if before, after := itemsOf(was, kind), itemsOf(now, kind); before > after {
			changed = append(changed, fmt.Sprintf("%s were %d and became %d", kind, before, after))
		}
	}
	return once(changed)
}

// mostChanges bounds what is said of a changed judgement.
const mostChanges = 20

// once drops what is there already, as a first answer may say a thing twice, and what
// nobody needs to read any more.
func once(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	if more := len(out) - mostChanges; more > 0 {
		out = append(out[:mostChanges], fmt.Sprintf("%d more", more))
	}
	return out
}

// mended says that a statement became more favourable. What is not said of just this any
// more, a job by another name for instance, is held against the worst of its kind.
func (s statement) mended(now []statement) []string {
	then, ok := worst(now, func(n statement) bool { return n.kind == s.kind && n.name == s.name })
	if !ok {
		then, ok = worst(now, func(n statement) bool { return n.kind == s.kind })
	}
	if !ok {
		then = statement{word: "nothing"}
	}
	if ok && s.favour() >= then.favour() || s.favour() == favourable {
		return nil
	}
	return []string{fmt.Sprintf("%s was %s and became %s", s.of(), s.word, then.word)}
}

// worst is the least favourable of some statements.
func worst(said []statement, counts func(statement) bool) (least statement, ok bool) {
	for _, s := range said {
		if counts(s) && (!ok || s.favour() < least.favour()) {
			least, ok = s, true
		}
	}
	return least, ok
}

// dropped says that a citation is not made any more which could not be found.
func (s statement) dropped(now []statement, r Reader) []string {
	if slices.Contains(now, s) {
		return nil
	}
	if _, found := (Citation{Kind: s.word, Ref: s.name}).lookUp(r); found {
		return nil
	}
	return []string{fmt.Sprintf("%s is not there and was dropped", s.of())}
}

// How favourable a statement is.
const (
	against = iota
	undecided
	favourable
)

// favour is what a statement is worth to the work. What does not apply, and an answer to
// a question that nobody asked, is held against nothing.
func (s statement) favour() int {
	passes := "yes"
	if s.kind == ofQuestion {
		n, err := strconv.Atoi(s.name)
		if err != nil || n < 1 || n > len(Questions()) {
			return favourable
		}
		passes = Questions()[n-1].Passes
	}
	switch s.word {
	case passes, Pass, "n/a", "na", "not applicable", "none", "null":
		return favourable
	case Fail, "yes", "no":
		return against
	}
	return undecided
}

// itemsOf counts the items of a list.
func itemsOf(said []statement, kind string) int {
	names := map[string]bool{}
	for _, s := range said {
		if s.kind == kind {
			names[s.name] = true
		}
	}
	return len(names)
}
