package modelsim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is what the protocols' answers have in common.
type answer struct {
	ctx    context.Context // ends when the client goes or the server closes
	w      http.ResponseWriter
	n      int // of the request
	ids    int // given out
	model  string
	stream bool
	media  string // of a stream
	usage  Usage
	pace   time.Duration
}

// reply writes one answer, part by part.
type reply interface {
	begin() error
	text(words []string) error
	call(c call) error
	end() error
	cut() error // leaves a text unfinished
}

// id makes an identifier that no other part of any answer has.
func (a *answer) id(kind string) string {
	a.ids++
	return fmt.Sprintf("%s_sim%d_%d", kind, a.n, a.ids)
}

// event sends one named event of a stream; an answer that is no stream has none.
func (a *answer) event(kind string, data map[string]any) error {
	if !a.stream {
		return nil
	}
	data["type"] = kind
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return a.send(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, text))
}

// data is event for the protocols whose events have no names.
func (a *answer) data(body any) error {
	if !a.stream {
		return nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return a.send(fmt.Sprintf("data: %s\n\n", text))
}

// send sends a piece of a stream as it is.
func (a *answer) send(text string) error {
	if _, err := io.WriteString(a.w, text); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

// whole sends an answer that is no stream.
func (a *answer) whole(body any) error { return writeJSON(a.w, http.StatusOK, body) }

func (a *answer) pause() error { return a.wait(a.pace) }

// wait is an error when the client is gone before the time is over.
func (a *answer) wait(d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

func writeJSON(w http.ResponseWriter, code int, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, err = w.Write(data)
	return err
}

// words splits a text so that the parts together are the text.
func words(s string) []string { return strings.SplitAfter(s, " ") }
