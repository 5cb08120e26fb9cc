package pattern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrate/internal/spelling"
)

// MaxText bounds a text with an item filled in, in bytes.
const MaxText = 4 << 20

// Variables of a text that is written once and stands for every item of a list.
const (
	itemName   = "item"
	numberName = "number"
	opening    = "{{"
	closing    = "}}"
)

// Variable is one place of a text that an item is filled in at.
type Variable struct {
	Offset int    // in bytes, of its opening braces
	Name   string // item, item.<field>… or number
}

// FillError says what cannot be filled in, and where in the text.
type FillError struct {
	Offset int // in bytes
	Why    string
	Value  bool // the item's value is at fault, not the text
}

func (e *FillError) Error() string { return e.Why }

// Variables lists what of a text is filled in: {{item}}, {{item.field}} and {{number}}; \{{ is
// a literal {{. Anything else between double braces is a *FillError.
func Variables(text string) (found []Variable, err error) {
	err = scan(text, func(v Variable) error {
		found = append(found, v)
		return nil
	}, func(string) {})
	return found, err
}

// Mentions reports the first variable of a text that is not one to be filled in, such as a
// command: double braces around anything else are left to whoever reads it.
func Mentions(text string) (Variable, bool) {
	for at := 0; ; {
		open := strings.Index(text[at:], opening)
		if open < 0 {
			return Variable{}, false
		}
		at += open
		name, _, closed := strings.Cut(text[at+len(opening):], closing)
		if name = strings.TrimSpace(name); closed && isVariable(name) {
			return Variable{Offset: at, Name: name}, true
		}
		at += len(opening)
	}
}

// Fill is the text with an item (JSON) and its number, from 1, filled in. What is filled in
// is data: it is not looked through for variables. Its errors are *FillError.
func Fill(text string, item json.RawMessage, number int) (string, error) {
	return fill(text, item, number, func(s string) (string, error) { return s, nil })
}

// FillPath is Fill for a path: a value that would lead out of the folder that the path is
// relative to, or to nowhere, is an error.
func FillPath(text string, item json.RawMessage, number int) (string, error) {
	return fill(text, item, number, func(s string) (string, error) { return s, stays(s) })
}

// FillGlob is FillPath for a glob: the values in it match only themselves.
func FillGlob(text string, item json.RawMessage, number int) (string, error) {
	return fill(text, item, number, func(s string) (string, error) { return EscapeGlob(s), stays(s) })
}

// Stand is the text with one word in place of every variable: for comparing paths of
// items that are not known yet.
func Stand(text, word string) string {
	var b strings.Builder
	err := scan(text, func(Variable) error { b.WriteString(word); return nil }, func(s string) { b.WriteString(s) })
	if err != nil {
		return text
	}
	return b.String()
}

func fill(text string, item json.RawMessage, number int, admit func(string) (string, error)) (string, error) {
	if !strings.Contains(text, opening) {
		return text, nil
	}
	var b strings.Builder
	err := scan(text, func(v Variable) error {
		fault := func(err error, value bool) error {
			return &FillError{Offset: v.Offset, Why: fmt.Sprintf("{{%s}}: %s", v.Name, err), Value: value}
		}
		s, err := v.value(item, number)
		if err != nil {
			return fault(err, false)
		}
		if s, err = admit(s); err != nil {
			return fault(err, true)
		}
		if b.Len()+len(s) > MaxText {
			return fault(fmt.Errorf("the text with item %d filled in has more than %d bytes (4 MiB); shorten it, or the item", number, MaxText), true)
		}
		b.WriteString(s)
		return nil
	}, func(s string) { b.WriteString(s) })
	return b.String(), err
}

// scan hands out a text piece by piece: its variables, and what is between them.
func scan(text string, variable func(Variable) error, plain func(string)) error {
	for at := 0; ; {
		open := strings.Index(text[at:], opening)
		if open < 0 {
			plain(text[at:])
			return nil
		}
		open += at
		if open > at && text[open-1] == '\\' {
			plain(text[at:open-1] + opening)
			at = open + len(opening)
			continue
		}
		plain(text[at:open])
		name, _, closed := strings.Cut(text[open+len(opening):], closing)
		if !closed {
			return &FillError{Offset: open, Why: `{{ has no }}; write \{{ for two braces that are meant as they stand`}
		}
		v := Variable{Offset: open, Name: strings.TrimSpace(name)}
		if !isVariable(v.Name) {
			return unknown(v)
		}
		if err := variable(v); err != nil {
			return err
		}
		at = open + len(opening) + len(name) + len(closing)
	}
}

func isVariable(name string) bool {
	fields, of := strings.CutPrefix(name, itemName+".")
	return name == itemName || name == numberName || of && !slices.Contains(strings.Split(fields, "."), "") && !strings.ContainsAny(fields, " \t\r\n{}")
}

func unknown(v Variable) error {
	first, rest, _ := strings.Cut(v.Name, ".")
	meant := ""
	if s := spelling.Nearest(first, []string{itemName, numberName}); s != "" {
		if s == itemName && rest != "" {
			s += "." + rest
		}
		meant = fmt.Sprintf("; did you mean {{%s}}?", s)
	}
	return &FillError{Offset: v.Offset, Why: fmt.Sprintf(`%q is no variable; allowed: {{item}}, {{item.field}} and {{number}}, and \{{ for two braces that are meant as they stand%s`, cut(v.Name), meant)}
}

// cut bounds how much of a name a message repeats.
func cut(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return string(runes[:39]) + "…"
	}
	return name
}

// value is what a variable stands for.
func (v Variable) value(item json.RawMessage, number int) (string, error) {
	if v.Name == numberName {
		return fmt.Sprint(number), nil
	}
	at, path, so := item, itemName, fmt.Sprintf("item %d", number)
	for _, name := range strings.Split(v.Name, ".")[1:] {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(at, &fields); err != nil || fields == nil {
			return "", fmt.Errorf("%s is no mapping, so it has no field %q", so, name)
		}
		found, ok := fields[name]
		if !ok || string(found) == "null" {
			return "", fmt.Errorf("%s has no field %q%s", so, name, instead(name, fields))
		}
		at, path = found, path+"."+name
		so = fmt.Sprintf("%s of item %d", path, number)
	}
	return Text(at), nil
}

// instead says which fields there are.
func instead(name string, fields map[string]json.RawMessage) string {
	names := slices.Sorted(maps.Keys(fields))
	if s := spelling.Nearest(name, names); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	if len(names) == 0 {
		return ""
	}
	return "; it has " + cut(strings.Join(names, ", "))
}

// Text is an item as text: a text as it is, anything else as compact JSON.
func Text(item json.RawMessage) string {
	var s string
	if len(item) > 0 && item[0] == '"' && json.Unmarshal(item, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, item) != nil {
		return string(item)
	}
	return b.String()
}

// stays says why a value may not be part of a path, nil = it may.
func stays(s string) error {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("the value is empty, which is no part of a path")
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || len(s) > 1 && s[1] == ':':
		return fmt.Errorf("%q is an absolute path; allowed: one that is relative and has no .. in it", cut(s))
	case strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return fmt.Errorf("%q has a control character, which no path may have", cut(s))
	case slices.Contains(parts, ".."):
		return fmt.Errorf("%q leads outside; allowed: a relative path that has no .. in it", cut(s))
	}
	return nil
}

// EscapeGlob makes a plain path a glob that matches only itself.
func EscapeGlob(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`,
	).Replace(s)
}

// Slug makes a text part of an id: ASCII letters, digits and _ as they are, a dot inside a
// name too, anything else a single dash. Not ok: nothing is left, or letters of another
// script would be lost.
func Slug(s string) (slug string, ok bool) {
	var b strings.Builder
	pending := byte(0)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80:
			return "", false
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_':
			if pending != 0 && b.Len() > 0 {
				b.WriteByte(pending)
			}
			pending = 0
			b.WriteByte(c)
		case c == '.' && pending == 0:
			pending = '.'
		default:
			pending = '-'
		}
	}
	return b.String(), b.Len() > 0
}
