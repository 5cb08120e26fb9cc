package pattern

import (
	"fmt"
	"strings"
)

// Vote is what came of one of several independent answers.
type Vote struct {
	Verdict  string // as the answer gives it, "" = it gives none
	Accepted bool
}

// Tally counts votes: how many accept, whether that is enough, and all of it in words.
func Tally(votes []Vote, require int) (accepted int, enough bool, words string) {
	for _, v := range votes {
		if v.Accepted {
			accepted++
		}
	}
	return accepted, accepted >= require, fmt.Sprintf("%d of %d accepted, %d required: %s", accepted, len(votes), require, verdicts(votes))
}

// mostVerdict bounds in bytes what is told of one verdict, which is text of an agent.
const mostVerdict = 40

func verdicts(votes []Vote) string {
	words := make([]string, len(votes))
	for i, v := range votes {
		switch {
		case v.Verdict == "":
			words[i] = "no verdict"
		case len(v.Verdict) > mostVerdict:
			words[i] = strings.ToValidUTF8(v.Verdict[:mostVerdict], "") + "…"
		default:
			words[i] = v.Verdict
		}
	}
	return strings.Join(words, ", ")
}

// Dry reports whether a search has run dry: its last stopAfter rounds found no key that was
// not found before. rounds are the keys that each found, in their order; fresh is how many
// of them were new in each.
func Dry(rounds [][]string, stopAfter int) (dry bool, fresh []int) {
	seen := map[string]bool{}
	without := 0
	for _, keys := range rounds {
		n := 0
		for _, k := range keys {
			if !seen[k] {
				seen[k] = true
				n++
			}
		}
		fresh = append(fresh, n)
		if without++; n > 0 {
			without = 0
		}
	}
	return without >= stopAfter, fresh
}

// Found are the keys of all rounds of a search, each once, in the order in which they were
// found first; none = an empty list. A round may have found a great many.
func Found(rounds [][]string) []string {
	seen, all := map[string]bool{}, []string{}
	for _, keys := range rounds {
		for _, k := range keys {
			if !seen[k] {
				seen[k] = true
				all = append(all, k)
			}
		}
	}
	return all
}

// Keys are what tells the findings of an answer apart, at a path in it. A text is itself,
// anything else its JSON. An answer without any has none.
func Keys(answer, path string) (keys []string, err error) {
	at, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	doc, err := Answer(answer)
	if err != nil {
		return nil, err
	}
	for _, v := range at.Select(doc) {
		if text, ok := v.(string); ok {
			keys = append(keys, text)
			continue
		}
		raw, err := Compact(v)
		if err != nil {
			return nil, err
		}
		keys = append(keys, string(raw))
	}
	return keys, nil
}
