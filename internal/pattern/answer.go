package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNoJSON says that an answer is no JSON document and holds none in a fenced block.
var ErrNoJSON = errors.New("the answer is no JSON, alone or in one fenced block")

// Answer is the JSON document that an answer is, or that its only fenced block holds.
// Numbers stay as they are written.
func Answer(text string) (any, error) {
	if doc, err := decode(strings.TrimSpace(text)); err == nil {
		return doc, nil
	}
	blocks := fenced(text)
	switch len(blocks) {
	case 0:
		return nil, ErrNoJSON
	case 1:
		doc, err := decode(blocks[0])
		if err != nil {
			return nil, fmt.Errorf("the fenced block of the answer is no JSON: %w", err)
		}
		return doc, nil
	}
	return nil, fmt.Errorf("the answer has %d fenced blocks where one is to hold the JSON", len(blocks))
}

func decode(text string) (doc any, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err = dec.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return doc, nil
}

// fenced are the blocks of a text between fences of at least three backquotes. One that is
// never closed goes on to the end.
func fenced(text string) (blocks []string) {
	var block strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := backquotes(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(line, "` \t\r\n") == "":
			blocks = append(blocks, block.String())
			block.Reset()
			fence = ""
		case fence != "":
			block.WriteString(line)
		}
	}
	if fence != "" {
		blocks = append(blocks, block.String())
	}
	return blocks
}

// backquotes is the fence that a line begins with, "" = none.
func backquotes(line string) string {
	line = strings.TrimLeft(line, " \t")
	mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	if len(mark) < 3 {
		return ""
	}
	return mark
}

// VerdictOf is the verdict that an answer gives in a field, as text, and whether it accepts:
// case and the spaces around it do not matter. field is a JSONPath or a plain name.
func VerdictOf(answer, field, accept string) (value string, accepted bool, err error) {
	path, err := ParsePath(field)
	if err != nil {
		return "", false, err
	}
	doc, err := Answer(answer)
	if err != nil {
		return "", false, err
	}
	switch found := path.Select(doc); {
	case len(found) == 0:
		return "", false, fmt.Errorf("the answer has no %q", field)
	case len(found) > 1:
		return "", false, fmt.Errorf("the answer has %d of %q where one is the verdict", len(found), field)
	default:
		value, err = word(found[0])
	}
	if err != nil || strings.TrimSpace(value) == "" {
		return "", false, fmt.Errorf("%q of the answer is no verdict: it is neither a text, a number, true nor false, or it is empty", field)
	}
	value = strings.TrimSpace(value)
	return value, strings.EqualFold(value, strings.TrimSpace(accept)), nil
}

// word is a single value as text.
func word(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number, bool:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("it is not a single value")
}
