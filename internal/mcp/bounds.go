package mcp

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// What a result may hold, in bytes of its JSON form. A result goes out twice, typed and
// as text, so that all of it stays below 100 KB.
const (
	mostText      = 30 << 10 // of the one long text in it
	mostMessages  = 4 << 10  // of what a command told a person
	mostPublished = 14 << 10 // of the command's own JSON
	mostList      = 14 << 10 // of things that are listed one by one, jobs for example
	mostApproved  = 1 << 10  // of each job that was asked about
	mostErrors    = 12 << 10 // of the text of an error
	mostIDs       = 40       // of jobs that are only named
)

// size is what a value takes in a result.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // it is not sent either
	}
	return len(data)
}

// cut leaves out the middle of a text that takes too much, and says where all of it is.
func cut(text string, most int, whole string) (short string, was bool) {
	if size(text) <= most {
		return text, false
	}
	for keep := most; ; keep = keep * 3 / 4 {
		head, tail := text[:min(keep*3/4, len(text))], text[max(0, len(text)-keep/4):]
		short = fmt.Sprintf("%s\n[… %d bytes left out; all of it: %s …]\n%s", valid(head), len(text)-len(head)-len(tail), whole, valid(tail))
		if size(short) <= most || keep == 0 {
			return short, true
		}
	}
}

// valid is a text without the halves of characters at its ends.
func valid(s string) string {
	for len(s) > 0 {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// few is the beginning of a list that takes no more than that, and how many more there
// are.
func few[T any](all []T, most int) (some []T, more int) {
	some = []T{}
	for i, v := range all {
		if most -= size(v) + 1; most < 0 {
			return some, len(all) - i
		}
		some = append(some, v)
	}
	return some, 0
}

// published is what a command prints as JSON, nil where that takes too much room.
func published(out string) map[string]any {
	var doc map[string]any
	if len(out) > mostPublished*2 || json.Unmarshal([]byte(out), &doc) != nil || size(doc) > mostPublished {
		return nil
	}
	return doc
}
