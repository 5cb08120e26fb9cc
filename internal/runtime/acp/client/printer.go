package client

import (
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"

	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/probe"
)

// Bounds of what a line holds, in bytes; the supervisor drops lines over 4 MiB, and
// a byte takes up to six in JSON.
const (
	textLimit  = 256 << 10 // of one piece of a message
	titleLimit = 1 << 10   // of titles, excerpts and explanations
	pathsLimit = 20        // of paths in a line
)

// printer writes lines; they come from several goroutines.
type printer struct {
	mu  sync.Mutex
	to  io.Writer
	err error // the first that went wrong
}

func (p *printer) line(l acp.Line) {
	raw, err := json.Marshal(l)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		_, err = p.to.Write(append(raw, '\n'))
	}
	if p.err == nil {
		p.err = err
	}
}

func (p *printer) warn(text string) {
	p.line(acp.Line{Type: acp.LineWarning, Text: short(text)})
}

// text prints a piece of a message, in several if it is long.
func (p *printer) text(message, text string) {
	for len(text) > textLimit {
		cut := textLimit
		for !utf8.RuneStart(text[cut]) && cut > textLimit-utf8.UTFMax {
			cut--
		}
		p.line(acp.Line{Type: acp.LineText, Message: message, Text: text[:cut]})
		text = text[cut:]
	}
	if text != "" {
		p.line(acp.Line{Type: acp.LineText, Message: message, Text: text})
	}
}

// failed reports whether something could not be written.
func (p *printer) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

func short(s string) string { return probe.Bounded(s, titleLimit) }
