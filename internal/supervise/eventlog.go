package supervise

import (
	"encoding/json"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"orchestrate/internal/runtime"
	"orchestrate/internal/secret"
)

// Bounds of events.jsonl. What must never be missing may go past the first one
// but not past the second.
const (
	maxEventBytes  = 8 << 20
	hardEventBytes = 2 * maxEventBytes
	maxEventText   = 16 << 10
	maxAnswerText  = 256 << 10
	eventBuffer    = 64 << 10
)

// eventLog writes events.jsonl: numbered, timed, redacted, bounded, in order.
// It keeps the first error and goes on, because a full disk must not end a job.
type eventLog struct {
	file    *os.File
	red     *secret.Redactor
	redact  func(string) string
	held    []runtime.Event // see hold
	buf     []byte
	seq     int64
	size    int64
	dropped int64
	err     error
}

func newEventLog(path string, red *secret.Redactor) (*eventLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &eventLog{file: file, red: red, redact: redactWith(red)}, nil
}

// redactWith returns red's function, or the identity without one.
func redactWith(red *secret.Redactor) func(string) string {
	if red == nil {
		return func(s string) string { return s }
	}
	return red.Clipped // decoders cut what is long before it comes here
}

// add records e; Seq and At are filled in here.
func (l *eventLog) add(e runtime.Event, at time.Time) {
	e.At = at.UTC()
	if !l.hold(e) {
		l.write(e)
	}
}

func (l *eventLog) write(e runtime.Event) {
	e.Seq = l.seq + 1
	e.Text = e.Text.Through(func(s string) string { return bounded(l.redact(s), textBound(e.Kind)) })
	e.Tool = bounded(l.redact(e.Tool), maxEventText)
	e.Model = bounded(l.redact(e.Model), maxEventText)
	e.SessionID = bounded(l.redact(e.SessionID), maxEventText)
	line, err := json.Marshal(e)
	if err != nil { // a NaN cost, for instance: the event is lost, not the job
		l.fail(err)
		return
	}
	size := int64(len(line)) + 1
	if l.size+size > eventBound(e.Kind) {
		l.dropped += size
		return
	}
	l.seq++
	l.size += size
	l.buf = append(append(l.buf, line...), '\n')
	if len(l.buf) >= eventBuffer {
		l.flush()
	}
}

func (l *eventLog) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// flush hands what is buffered to the operating system.
func (l *eventLog) flush() {
	if len(l.buf) == 0 {
		return
	}
	if _, err := l.file.Write(l.buf); err != nil {
		l.fail(err)
	}
	l.buf = l.buf[:0]
}

// close flushes and returns the first error of the log's life.
func (l *eventLog) close() error {
	l.letGo()
	l.flush()
	if err := l.file.Close(); err != nil {
		l.fail(err)
	}
	return l.err
}

func textBound(kind runtime.EventKind) int {
	if kind == runtime.EventAnswer {
		return maxAnswerText
	}
	return maxEventText
}

// eventBound says up to which size of the log an event of this kind is written.
func eventBound(kind runtime.EventKind) int64 {
	switch kind {
	case runtime.EventSession, runtime.EventUsage, runtime.EventAnswer, runtime.EventComplete,
		runtime.EventFailed, runtime.EventSignal, runtime.EventExited, runtime.EventDropped:
		return hardEventBytes
	}
	return maxEventBytes
}

// bounded cuts s to max bytes at a rune boundary and says how much is missing.
func bounded(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "… [" + strconv.Itoa(len(s)-cut) + " bytes cut]"
}

// redactOutcome returns o with every string redacted.
func redactOutcome(o runtime.Outcome, redact func(string) string) runtime.Outcome {
	o.Evidence = o.Evidence.Through(redact)
	o.Answer = o.Answer.Through(redact)
	o.SessionID = redact(o.SessionID)
	o.ObservedModel = redact(o.ObservedModel)
	denials := make([]runtime.Denial, 0, len(o.Denials))
	for _, d := range o.Denials {
		denials = append(denials, runtime.Denial{Tool: redact(d.Tool), Boundary: d.Boundary.Through(redact)})
	}
	o.Denials = denials
	return o
}
