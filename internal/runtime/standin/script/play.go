package script

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/standin"
)

// readLimit bounds what a read step says.
const readLimit = 64 << 10

// player plays one attempt.
type player struct {
	opt    options
	emit   func(standin.Line) error
	err    io.Writer
	mark   func(string) string // flags what is said
	prompt string

	answer *string // nil until a step gave one
	failed *Error
	silent bool // no completion event
	exit   int
}

// Stage is where another program than the stand-in plays steps: a fake of a real
// agent, which says the same in that agent's own form.
type Stage struct {
	Prompt string
	Out    string // the artifacts folder
	Emit   func(standin.Line) error
	Stderr io.Writer
}

// Play plays the steps and ends as they say; its texts are not flagged as a
// rehearsal. It returns the exit status that they give.
func Play(steps []Step, st Stage) (exit int, err error) {
	p := &player{
		opt: options{job: "fake", out: st.Out}, emit: st.Emit, err: st.Stderr, prompt: st.Prompt,
		mark: func(text string) string { return text },
	}
	if err := p.play(steps); err != nil {
		return 1, err
	}
	return p.exit, p.finish()
}

// play does the steps in order; the first that cannot be played ends it.
func (p *player) play(steps []Step) error {
	for i, s := range steps {
		if err := p.step(s); err != nil {
			return fmt.Errorf("step %d of job %s: %w", i, p.opt.job, err)
		}
	}
	return nil
}

func (p *player) step(s Step) error {
	switch {
	case s.Say != nil:
		return p.say(*s.Say)
	case s.Write != nil:
		return p.put("Write", *s.Write, os.O_TRUNC)
	case s.Append != nil:
		return p.put("Edit", *s.Append, os.O_APPEND)
	case s.Delete != nil:
		return p.used("Delete", *s.Delete, os.Remove(p.path(*s.Delete)))
	case s.Read != nil:
		return p.read(*s.Read)
	case s.Tool != nil:
		return p.used(s.Tool.Name, s.Tool.Input, nil)
	case s.Deny != nil:
		return p.emit(standin.Line{Kind: runtime.EventDenied, Tool: s.Deny.Tool, Text: s.Deny.Boundary})
	case s.Sleep != nil:
		time.Sleep(*s.Sleep)
		return nil
	case s.WaitFor != nil:
		return waitFor(p.path(*s.WaitFor))
	case s.Stderr != nil:
		_, err := fmt.Fprintln(p.err, *s.Stderr)
		return err
	case s.Spawn != nil:
		pid, err := Spawn{Sleep: s.Spawn.Sleep, Lock: p.path(s.Spawn.Lock)}.Start()
		return p.used("Bash", fmt.Sprintf("spawned process %d", pid), err)
	}
	return p.settle(s)
}

// settle takes the steps that decide how the attempt ends.
func (p *player) settle(s Step) error {
	switch {
	case s.Model != nil:
		return p.emit(standin.Line{Kind: runtime.EventModel, Model: *s.Model})
	case s.Usage != nil:
		u := runtime.Usage{InputTokens: s.Usage.Input, OutputTokens: s.Usage.Output, CostUSD: s.Usage.USD}
		return p.emit(standin.Line{Kind: runtime.EventUsage, Usage: &u})
	case s.Error != nil:
		p.failed = s.Error
	case s.Exit != nil:
		p.exit = *s.Exit
	case s.Answer != nil:
		p.answer = s.Answer
	case s.Verdict != nil:
		v := passing(p.prompt, p.opt.judged)
		maps.Copy(v, s.Verdict)
		return p.verdict(v)
	case s.NoCompletion != nil:
		p.silent = *s.NoCompletion
	}
	return nil
}

// session names the session after the job, so that two attempts differ.
func (p *player) session() error {
	return p.emit(standin.Line{Kind: runtime.EventSession, SessionID: fmt.Sprintf("rehearsal-%s-%d", p.opt.job, p.opt.attempt)})
}

// finish gives the answer and the completion event, if the script lets it.
func (p *player) finish() error {
	if p.answer == nil {
		text := "the job's answer"
		if p.opt.expected != "" {
			text = p.opt.expected
		}
		p.answer = &text
	}
	if p.failed != nil {
		return p.emit(standin.Line{
			Kind: runtime.EventFailed, Reason: p.failed.Reason, Text: p.mark(p.failed.Text),
			RetryAfterMs: p.failed.RetryAfter.Milliseconds(),
		})
	}
	if p.silent {
		return nil
	}
	if err := p.emit(standin.Line{Kind: runtime.EventAnswer, Text: p.mark(*p.answer)}); err != nil {
		return err
	}
	return p.emit(standin.Line{Kind: runtime.EventComplete})
}

func (p *player) say(text string) error {
	return p.emit(standin.Line{Kind: runtime.EventText, Text: p.mark(text)})
}

// used reports a tool use and, when err is nil, that it succeeded.
func (p *player) used(tool, input string, err error) error {
	if e := p.emit(standin.Line{Kind: runtime.EventToolCall, Tool: tool, Text: input}); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	return p.emit(standin.Line{Kind: runtime.EventToolDone, Tool: tool})
}

func (p *player) put(tool string, f File, mode int) error {
	return p.used(tool, f.Path, put(p.path(f.Path), f.Content, mode))
}

func put(path, content string, mode int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (p *player) read(path string) error {
	data, err := os.ReadFile(p.path(path))
	if err := p.used("Read", path, err); err != nil {
		return err
	}
	return p.say(string(data[:min(len(data), readLimit)]))
}

// verdict makes an answer of v, as the arbiter is asked to give it.
func (p *player) verdict(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	text := "a verdict without a reader.\n\n```json\n" + string(data) + "\n```"
	p.answer = &text
	return nil
}

// path resolves a script's path against the artifacts or the working folder.
func (p *player) path(s string) string {
	if rest, ok := strings.CutPrefix(s, "$ORCHESTRATE_OUT"); ok {
		return filepath.Join(p.opt.out, filepath.FromSlash(rest))
	}
	return filepath.FromSlash(s)
}

// marked flags a text; an empty one stays empty, so that a script can give none.
func marked(s string) string {
	if s == "" || strings.HasPrefix(s, standin.Mark) {
		return s
	}
	return standin.Mark + ": " + s
}

// waitFor polls until the file exists: another process makes it, and nothing
// portable tells of that.
func waitFor(path string) error {
	for {
		_, err := os.Lstat(path)
		if err == nil || !os.IsNotExist(err) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
