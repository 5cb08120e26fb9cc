package spec

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
)

// searchDocument looks for secrets in the bytes as written, comments included,
// and in every string as read, where quoting or folding hid it.
func (r *reader) searchDocument(data []byte, root value) {
	r.lines = strings.Split(string(data), "\n")
	if r.opt.Secrets == nil {
		return
	}
	told := map[string]bool{}
	// Strings first: they know their field. Joined, because a search has a cost
	// of its own that a thousand short strings would multiply.
	once := firstOfEach(root, map[string]bool{}, nil)
	joined, starts := join(once)
	for _, s := range r.opt.Secrets(joined) {
		i := sort.SearchInts(starts, s.Line+1) - 1
		if i < 0 {
			continue
		}
		v := once[i]
		at := r.within(v, s.Line-starts[i]+1, s.Col)
		told[s.Fingerprint] = true
		r.secret(at, v.path, s)
	}
	for _, s := range r.opt.Secrets(withoutRepeats(r.lines)) {
		r.secretLines[s.Line] = true
		if !told[s.Fingerprint] {
			r.secret(spot{s.Line, s.Col}, nearestField(collect(root, nil), s.Line), s)
		}
	}
}

// repeatable is how long a line must be to be searched only once when it comes
// again. Shorter ones, such as the first line of a key, may be part of several
// different secrets.
const repeatable = 128

// withoutRepeats is the document with long lines emptied that were there before:
// the lists of a wide graph are most of it.
func withoutRepeats(lines []string) string {
	seen := map[string]bool{}
	var b strings.Builder
	for _, line := range lines {
		if len(line) < repeatable || !seen[line] {
			b.WriteString(line)
			seen[line] = true
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// firstOfEach is collect without texts that were there before.
func firstOfEach(v value, seen map[string]bool, into []value) []value {
	if v.t == nil {
		return into
	}
	switch v.t.kind {
	case kindText:
		if !seen[v.t.text] {
			seen[v.t.text] = true
			into = append(into, v)
		}
	case kindList:
		for i, item := range v.t.items {
			if !seen[item.text] || item.kind != kindText {
				into = firstOfEach(v.item(i), seen, into)
			}
		}
	case kindMap:
		for _, k := range v.t.keys {
			into = firstOfEach(v.field(k), seen, into)
		}
	}
	return into
}

// secret reports one find: field, rule, line and the way past a false alarm.
func (r *reader) secret(at spot, field string, s Secret) {
	r.secretLines[at.line] = true
	if len(r.opt.Secrets(field)) > 0 { // it is, or is in, a key
		field = ""
	}
	if !r.full() {
		r.errors = append(r.errors, r.diagnostic(at, field, "secret", secretMessage(s)))
	}
}

func secretMessage(s Secret) string {
	return fmt.Sprintf("this looks like a secret (rule %s) and is refused; give it to the job through the environment (env_allow). If it is none, list %q under secrets.allow in the operator's configuration", s.Rule, s.Fingerprint)
}

// tells reports whether a message would repeat a secret of the document.
func (r *reader) tells(d Diagnostic) bool {
	if len(r.secretLines) == 0 || d.Rule == "secret" || d.Pos.File != r.name {
		return false
	}
	return r.secretLines[d.Pos.Line] || len(r.opt.Secrets(d.String())) > 0
}

// searchFile looks for secrets in a text file that the spec names.
func (r *reader) searchFile(v value, name, text string) {
	if r.opt.Secrets == nil {
		return
	}
	for _, s := range r.opt.Secrets(text) {
		r.errors = append(r.errors, Diagnostic{
			Pos:     Position{File: filepath.Join(r.opt.Dir, name), Line: max(1, s.Line), Col: max(1, s.Col)},
			Field:   v.path,
			Message: secretMessage(s),
			Rule:    "secret",
		})
	}
}

// collect lists the strings of a document in order.
func collect(v value, into []value) []value {
	if v.t == nil {
		return into
	}
	switch v.t.kind {
	case kindText:
		into = append(into, v)
	case kindList:
		for i := range v.t.items {
			into = collect(v.item(i), into)
		}
	case kindMap:
		for _, k := range v.t.keys {
			into = collect(v.field(k), into)
		}
	}
	return into
}

// join puts texts below each other and says at which line each starts, from 1.
func join(texts []value) (string, []int) {
	var b strings.Builder
	starts, line := make([]int, len(texts)), 1
	for i, v := range texts {
		starts[i] = line
		b.WriteString(v.t.text)
		b.WriteByte('\n')
		line += strings.Count(v.t.text, "\n") + 1
	}
	return b.String(), starts
}

// within is the place in the document of a line and column of a string. Only a
// literal block keeps its lines; elsewhere it is the string's own place.
func (r *reader) within(v value, line, col int) spot {
	top := v.t.at.line // lines count from 1, so this is the index of the next
	if !v.t.block || top+line > len(r.lines) {
		return v.t.at
	}
	indent := len(r.lines[top]) - len(strings.TrimLeft(r.lines[top], " "))
	return spot{top + line, indent + max(1, col)}
}

// nearestField names the last string that starts at or before a line.
func nearestField(texts []value, line int) string {
	path := ""
	for _, v := range texts {
		if v.t.at.line > line {
			break
		}
		path = v.path
	}
	return path
}
