package secret

import (
	"bytes"
	"encoding/json"
)

// JSON is Bytes for JSON text, of one or of several values: each string is
// redacted by itself, without and with its escapes, so that JSON stays JSON and a
// name does not run into the value of its neighbour.
func (r *Redactor) JSON(b []byte) []byte {
	if len(r.AppendSpans(nil, b)) == 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for {
		open := bytes.IndexByte(b, '"')
		if open < 0 {
			return append(out, b...)
		}
		end := stringEnd(b, open)
		out = append(out, b[:open]...)
		out = append(out, r.quoted(b[open:end])...)
		b = b[end:]
	}
}

// stringEnd is the position behind the string that opens at b[open].
func stringEnd(b []byte, open int) int {
	for i := open + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// quoted redacts one JSON string with its quotes.
func (r *Redactor) quoted(b []byte) []byte {
	var text string
	if json.Unmarshal(b, &text) == nil {
		if clean := r.String(text); clean != text {
			b = []byte(`"` + jsonString(clean, false) + `"`)
		}
	}
	clean := r.Bytes(b)
	if len(clean) == len(b) && bytes.Equal(clean, b) || json.Valid(clean) {
		return clean
	}
	return []byte(`"` + Mark + `"`) // an escape was divided
}
