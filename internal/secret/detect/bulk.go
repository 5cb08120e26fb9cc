package detect

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"orchestrate/internal/secret"
)

// The maintained rules look for a word first and try their expression on the
// whole piece only where it occurs: in small pieces most are done with quickly.
const (
	pieceBytes   = 8 << 10
	overlapBytes = 1 << 10
)

// FindContext is Find for much text, with a deadline: it finds all of which the
// stream redactor is certain, and divides the work among the processors. When
// ctx ends first, what was found by then is returned with an error, and the rest
// of the text is not known to be free of secrets.
func (d *Detector) FindContext(ctx context.Context, text string) ([]Finding, error) {
	s := d.search(text)
	s.known(func(rule, value string, _ int) bool { return secret.Certain(rule, value) })
	work := make(chan piece)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range work {
				if ctx.Err() == nil {
					s.maintained(ctx, p.text, p.before)
				}
			}
		})
	}
	for p := range pieces(text) {
		work <- p
	}
	close(work)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return s.sorted(), fmt.Errorf("looking for secrets was not finished: %w", err)
	}
	return s.sorted(), nil
}

// piece is a part of a text that has so many lines before it.
type piece struct {
	text   string
	before int
}

// pieces divides a text at line ends where it can. Pieces overlap, so that a match
// at a border is whole in one of them; blank ones are left out.
func pieces(text string) func(func(piece) bool) {
	return func(yield func(piece) bool) {
		before := 0
		for start := 0; start < len(text); {
			end := lineEnd(text, start, min(len(text), start+pieceBytes))
			p := piece{text[start:end], before}
			if strings.TrimSpace(p.text) != "" && !yield(p) || end == len(text) {
				return
			}
			next := lineEnd(text, start, end-overlapBytes)
			before += strings.Count(text[start:next], "\n")
			start = next
		}
	}
}

// lineEnd is the last position up to most that begins a line, if one is near;
// else most.
func lineEnd(text string, start, most int) int {
	if most == len(text) {
		return most
	}
	if k := strings.LastIndexByte(text[max(start+1, most-overlapBytes):most], '\n'); k >= 0 {
		return max(start+1, most-overlapBytes) + k + 1
	}
	return most
}
