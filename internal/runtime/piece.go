package runtime

import "encoding/json"

// Piecemeal is implemented by decoders of streams in which a text comes in pieces, or
// is told again and again while it grows. A secret in it lies across lines and is not
// known for one in any of them: the supervisor leaves such lines out of what it keeps
// of the stream. The whole text is told by another line, or by an event.
type Piecemeal interface {
	// Piece reports whether a line holds such a piece.
	Piece(line []byte) bool
}

// Unfinished is implemented by decoders that gather pieces themselves. It is asked
// once, when both streams have ended, for what was being said then.
type Unfinished interface{ Unfinished() []Event }

// LineType is the "type" of a line of JSON, and that of the "event" in it. Both are
// empty where there is none.
func LineType(line []byte) (own, ofEvent string) {
	type typed struct {
		Type string `json:"type"`
	}
	var l struct {
		typed
		Event typed `json:"event"`
	}
	_ = json.Unmarshal(line, &l) // what can be read of an odd line is enough
	return l.Type, l.Event.Type
}
