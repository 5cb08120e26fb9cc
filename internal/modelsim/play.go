package modelsim

import (
	"context"
	"errors"
	"net/http"
	"strconv"
)

// errCut asks for a connection that breaks off.
var errCut = errors.New("the scenario cuts the connection")

// play answers a request with steps. begun is told the status as soon as an
// answer starts.
func (s *Server) play(ctx context.Context, w http.ResponseWriter, r *Request, rule Rule, steps []Step, begun func(status int)) error {
	a := &answer{
		ctx: ctx, w: w, n: r.N, model: r.Model, stream: r.Stream, media: "text/event-stream", usage: DefaultUsage(), pace: rule.Pace,
	}
	if rule.Answers != "" {
		a.model = rule.Answers
	}
	if rule.Usage != nil {
		a.usage = *rule.Usage
	}
	p := &player{reply: protocols[r.API].reply(a, r), server: s, answer: a, request: r, begun: begun}
	return p.all(steps)
}

type player struct {
	reply
	server  *Server
	answer  *answer
	request *Request
	begun   func(status int)
	open    bool
}

// part is a step with what it comes to for this request.
type part struct {
	Step
	text *string
	call *call
}

// all plays the steps. What they come to is found out before anything is sent,
// so that a step that cannot be played is an answer of its own.
func (p *player) all(steps []Step) error {
	parts := make([]part, len(steps))
	for i, step := range steps {
		var err error
		if parts[i], err = p.prepare(step); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if part.Status != nil {
			return p.fail(*part.Status)
		}
		if err := p.one(part); err != nil {
			return err
		}
	}
	if err := p.start(); err != nil {
		return err
	}
	return p.end()
}

// start opens the answer, once. An answer that is no stream is sent at its end.
func (p *player) start() error {
	if p.open {
		return nil
	}
	p.open = true
	p.begun(http.StatusOK)
	if p.answer.stream {
		p.answer.w.Header().Set("Content-Type", p.answer.media)
		p.answer.w.Header().Set("Cache-Control", "no-cache")
		p.answer.w.WriteHeader(http.StatusOK)
	}
	return p.begin()
}

func (p *player) prepare(step Step) (part, error) {
	out := part{Step: step}
	switch {
	case step.Text != nil:
		out.text = new(p.fill(*step.Text))
	case step.Verdict != nil:
		var err error
		out.text, out.call, err = p.verdict(*step.Verdict)
		return out, err
	case step.Tool != nil, step.Write != nil, step.Read != nil, step.Shell != nil:
		c, err := p.callOf(step)
		out.call = &c
		return out, err
	}
	return out, nil
}

func (p *player) one(part part) error {
	switch {
	case part.Wait != nil:
		return p.answer.wait(*part.Wait)
	case part.Hang:
		<-p.answer.ctx.Done()
		return p.answer.ctx.Err()
	case part.Cut:
		return p.breakOff()
	}
	if err := p.start(); err != nil {
		return err
	}
	if part.call != nil {
		return p.call(*part.call)
	}
	return p.text(words(*part.text))
}

// breakOff leaves a text unfinished and the connection broken.
func (p *player) breakOff() error {
	if err := p.start(); err != nil {
		return err
	}
	if err := p.cut(); err != nil {
		return err
	}
	return errCut
}

func (p *player) fail(status Status) error {
	header := p.answer.w.Header()
	if status.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(status.RetryAfter))
	}
	for name, value := range status.Headers {
		header.Set(name, p.fill(value))
	}
	status.Message = p.fill(status.Message)
	fields := map[string]any{}
	for name, value := range status.Fields {
		fields[name] = p.fillAll(value)
	}
	status.Fields = fields
	p.begun(status.Code)
	return writeJSON(p.answer.w, status.Code, errorBody(p.request.API, p.request.Model, status))
}
