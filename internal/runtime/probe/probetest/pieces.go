package probetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// inPieces finds lines that hold the beginning of a text and are not known as pieces: a
// secret that lies across such lines stays readable in what is kept of the stream.
func inPieces(d runtime.Decoder, stdout []byte, events []runtime.Event) (faults []string) {
	known, _ := d.(runtime.Piecemeal)
	for line := range bytes.Lines(stdout) {
		var value any
		if json.Unmarshal(line, &value) != nil || known != nil && known.Piece(bytes.TrimSpace(line)) {
			continue
		}
		for _, part := range texts(value) {
			if len(part) > 1 && slices.ContainsFunc(events, func(e runtime.Event) bool { return begins(e, part) }) {
				faults = append(faults, fmt.Sprintf("a text begins with %q, and the line is not known as a piece: %.300s", part, line))
			}
		}
	}
	return faults
}

// begins reports whether something that was said begins with a text and goes on.
func begins(e runtime.Event, text string) bool {
	if e.Kind != runtime.EventText && e.Kind != runtime.EventAnswer {
		return false
	}
	rest, ok := strings.CutPrefix(e.Text.Unshown(), text)
	return ok && strings.TrimSpace(rest) != ""
}

// texts are all strings in a JSON value.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	}
	return all
}
