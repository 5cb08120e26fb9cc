package capture

import (
	"fmt"
	"os"
)

// flushTail puts the redacted tail, as far as it can be shown by now, into
// <path>.tail. Every state of that file is redacted, so it is overwritten in
// place.
func (w *Writer) flushTail() {
	raw := w.ring.linear()
	w.spans = w.red.AppendSpans(w.spans[:0], raw)
	w.renderTail(raw, wholeRunes(raw, w.red.SafeCut(raw, w.spans)))
	w.dirty = false
	if w.tail == nil {
		f, err := os.OpenFile(w.path+".tail", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			w.failed(err)
			return
		}
		w.tail = f
	}
	if _, err := w.tail.WriteAt(w.out, 0); err != nil {
		w.failed(err)
		return
	}
	if err := w.tail.Truncate(int64(len(w.out))); err != nil {
		w.failed(err)
	}
}

// finishTail appends the marker and the tail to the head.
func (w *Writer) finishTail() int64 {
	if w.ring.total == 0 {
		return 0
	}
	raw := w.ring.linear()
	w.spans = w.red.AppendSpans(w.spans[:0], raw)
	dropped := w.ring.lost() + int64(w.renderTail(raw, len(raw)))
	if dropped > 0 {
		w.put(fmt.Appendf(nil, "\n[… %d bytes dropped …]\n", dropped))
	}
	w.put(w.out)
	return dropped
}

// renderTail makes w.out the redacted text of the kept end of raw[:to] and
// returns where in raw it starts.
func (w *Writer) renderTail(raw []byte, to int) int {
	from := 0
	if w.ring.lost() > 0 {
		from = w.clean(raw, to)
	}
	w.pieces = pieces(w.pieces[:0], w.spans, from, to)
	if start := tailOf(raw, w.pieces, w.budget); start > from {
		from = start
		w.pieces = pieces(w.pieces[:0], w.spans, from, to)
	}
	w.out = w.out[:0]
	for _, p := range w.pieces {
		w.out = appendPiece(w.out, raw, p)
	}
	return from
}

// clean returns the first position that can be shown of a ring that has lost its
// beginning: a secret that is cut there ends within the window, and a character
// within three bytes.
func (w *Writer) clean(raw []byte, to int) int {
	from := min(w.red.Window(), to)
	for k := 0; k < 3 && from < to && raw[from]&0xC0 == 0x80; k++ {
		from++
	}
	return from
}
