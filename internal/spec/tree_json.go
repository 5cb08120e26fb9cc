package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"unicode/utf8"
)

// json reads JSON into a tree, or reports why it cannot. The YAML reader takes most of
// JSON, but neither surrogate escapes, as other programs write what is outside the basic
// plane, nor tabs.
func (r *reader) json(data []byte, limit int) *tree {
	if len(data) > limit {
		r.report(spot{1, 1}, "", "size", fmt.Sprintf("the document has %d bytes; at most %d (%d MiB) are read: move long text to prompt files", len(data), limit, limit>>20))
		return nil
	}
	if at, what := badText(data); what != "" {
		r.report(at, "", "encoding", what)
		return nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		r.report(spot{1, 1}, "", "empty", "the document is empty; allowed: "+r.holds)
		return nil
	}
	j := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	j.dec.UseNumber()
	for i, c := range data {
		if c == '\n' {
			j.breaks = append(j.breaks, i)
		}
	}
	t, err := j.value(0)
	if err == nil {
		err = j.end()
	}
	if err != nil {
		at, message := j.fault(err)
		r.report(at, "", "json", message)
		return nil
	}
	if t.kind != kindMap {
		r.report(t.at, "", "type", fmt.Sprintf("found %s; allowed: %s", t.words(), r.holds))
		return nil
	}
	return t
}

// jsonReader reads tokens and knows where each begins.
type jsonReader struct {
	data   []byte
	dec    *json.Decoder
	breaks []int // offsets of the line breaks
	nodes  int
	at     int  // offset of the last place that was asked for
	last   spot // that place
}

// jsonFault is a mistake at a place.
type jsonFault struct {
	at      int // offset
	message string
}

func (e *jsonFault) Error() string { return e.message }

// next is the next token, and the offset at which it begins.
func (j *jsonReader) next() (json.Token, int, error) {
	at := int(j.dec.InputOffset())
	for at < len(j.data) && bytes.IndexByte([]byte(" \t\r\n,:"), j.data[at]) >= 0 {
		at++
	}
	tok, err := j.dec.Token()
	return tok, at, err
}

func (j *jsonReader) value(depth int) (*tree, error) {
	tok, at, err := j.next()
	if err != nil {
		return nil, err
	}
	if j.nodes++; j.nodes > maxNodes {
		return nil, &jsonFault{at, fmt.Sprintf("the document has more than %d values; split it", maxNodes)}
	}
	if depth > maxDepth {
		return nil, &jsonFault{at, fmt.Sprintf("lists and mappings nest more than %d deep here", maxDepth)}
	}
	t := &tree{at: j.spot(at), size: 1}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return t, j.list(t, depth)
		}
		return t, j.mapping(t, depth)
	case string:
		t.kind, t.text = kindText, tok
	case bool:
		t.kind, t.truth, t.text = kindBool, tok, strconv.FormatBool(tok)
	case json.Number:
		t.kind, t.text = kindNumber, tok.String()
		return t, t.count(tok, at)
	}
	return t, nil
}

// count makes a number of what stands there.
func (t *tree) count(n json.Number, at int) error {
	if i, err := n.Int64(); err == nil {
		t.number = i
		return nil
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		return &jsonFault{at, fmt.Sprintf("found %s; allowed: a finite number", n)}
	}
	t.number = f
	return nil
}

func (j *jsonReader) list(t *tree, depth int) error {
	t.kind = kindList
	for j.dec.More() {
		item, err := j.value(depth + 1)
		if err != nil {
			return err
		}
		t.items = append(t.items, item)
	}
	_, _, err := j.next()
	return err
}

func (j *jsonReader) mapping(t *tree, depth int) error {
	t.kind, t.fields, t.keyAt = kindMap, map[string]*tree{}, map[string]spot{}
	for j.dec.More() {
		tok, at, err := j.next()
		if err != nil {
			return err
		}
		key, _ := tok.(string) // the decoder takes nothing else for a key
		if t.fields[key] != nil {
			return &jsonFault{at, fmt.Sprintf("the key %s is given twice; the first is on line %d: keep one", quote(key), t.keyAt[key].line)}
		}
		here := j.spot(at)
		v, err := j.value(depth + 1)
		if err != nil {
			return err
		}
		t.keys = append(t.keys, key)
		t.fields[key], t.keyAt[key] = v, here
	}
	_, _, err := j.next()
	return err
}

// end holds that nothing follows the document.
func (j *jsonReader) end() error {
	_, at, err := j.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return &jsonFault{at, "something follows the end of the document: it is one JSON value"}
}

// fault words an error, with its place.
func (j *jsonReader) fault(err error) (spot, string) {
	var own *jsonFault
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &own):
		return j.spot(own.at), own.message
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return j.spot(len(j.data)), "not valid JSON: it ends in the middle"
	case errors.As(err, &syntax):
		at := int(syntax.Offset)
		if syntax.Offset != j.dec.InputOffset() { // what was read, with the character that is wrong
			at--
		}
		return j.spot(max(0, at)), "not valid JSON: " + syntax.Error()
	}
	return spot{1, 1}, "not valid JSON: " + err.Error()
}

// spot is the place of an offset; columns count characters. It counts on from the last one
// where it can: a manifest of many megabytes may be one line.
func (j *jsonReader) spot(at int) spot {
	at = min(at, len(j.data))
	line := sort.SearchInts(j.breaks, at)
	begin, col := 0, 1
	if line > 0 {
		begin = j.breaks[line-1] + 1
	}
	if j.last.line == line+1 && j.at <= at {
		begin, col = j.at, j.last.col
	}
	j.at, j.last = at, spot{line + 1, col + utf8.RuneCount(j.data[begin:at])}
	return j.last
}
