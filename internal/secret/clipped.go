package secret

import (
	"bytes"
	"strings"
)

// Ellipsis ends a text that somebody cut off.
const Ellipsis = "…"

// Clipped is String for a text that ends in an ellipsis because it was cut off before
// it came here: what may be the beginning of a secret at its end is left out too.
func (r *Redactor) Clipped(text string) string {
	rest, ok := strings.CutSuffix(text, Ellipsis)
	if !ok || r == nil {
		return r.String(text)
	}
	b := []byte(rest)
	return r.String(rest[:r.beforeBegun(b)]) + Ellipsis
}

// sequels stand for what was cut off: each completes other kinds of secrets.
var sequels = [][]byte{
	bytes.Repeat([]byte("0a1b2c3d4e5f6789"), 16), bytes.Repeat([]byte("A1B2C3D4E5F67890"), 16),
	bytes.Repeat([]byte("aQbWcEdRfTgZhUiJ"), 16), []byte(".eyJ0a1b2c3d4e5f67890a1b2c3d4e5f6789.0a1b2c3d4e5f"),
	[]byte("0a1b2c3d4e5f@host.example"),
}

// beforeBegun is where to cut b so that nothing at its end would be a secret if it
// went on.
func (r *Redactor) beforeBegun(b []byte) int {
	cut := len(b)
	for _, more := range sequels {
		whole := append(bytes.Clone(b[max(0, len(b)-r.window):]), more...)
		before := len(b) - (len(whole) - len(more))
		for _, s := range r.AppendSpans(nil, whole) {
			if at := before + s.From; at < len(b) && before+s.End > len(b) {
				cut = min(cut, at)
			}
		}
	}
	if at := runBack(b, len(b), maxRun, base64Set); len(b)-at >= 16 && has(b[at:], digits) && has(b[at:], letters) {
		cut = min(cut, beforeBlock(b, at)) // what it encodes nobody knows yet
	}
	for k := range r.scan.forms {
		cut = min(cut, r.scan.forms[k].begun(b, cut))
	}
	return cut
}
