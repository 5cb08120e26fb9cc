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
	a := &answer{ctx: ctx, w: w, n: r.N, model: r.Model, stream: r.Stream, usage: DefaultUsage(), pace: rule.Pace}
	if rule.Answers != "" {
		a.model = rule.Answers
	}
	if rule.Usage != nil {
		a.usage = *rule.Usage
	}
	p := &player{server: s, answer: a, request: r, begun: begun}
	if r.API == Anthropic {
		p.reply = &anthropicReply{answer: a}
	} else {
		p.reply = &openAIReply{answer: a, spaces: r.offered}
	}
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
		p.answer.w.Header().Set("Content-Type", "text/event-stream")
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
		text, err := step.Verdict.answer(p.request.User)
		out.text = &text
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
		return p.cut()
	}
	if err := p.start(); err != nil {
		return err
	}
	if part.call != nil {
		return p.call(*part.call)
	}
	return p.text(words(*part.text))
}

// cut leaves a text unfinished and the connection broken.
func (p *player) cut() error {
	if err := p.start(); err != nil {
		return err
	}
	if p.answer.stream {
		start := map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}}
		if p.request.API == OpenAI {
			start = map[string]any{"output_index": 0, "item": map[string]any{"type": "message", "id": "msg_cut", "role": "assistant", "content": []any{}}}
			if err := p.answer.event("response.output_item.added", start); err != nil {
				return err
			}
		} else if err := p.answer.event("content_block_start", start); err != nil {
			return err
		}
	}
	return errCut
}

func (p *player) fail(status Status) error {
	if status.RetryAfter > 0 {
		p.answer.w.Header().Set("Retry-After", strconv.Itoa(status.RetryAfter))
	}
	p.begun(status.Code)
	return writeJSON(p.answer.w, status.Code, errorBody(p.request.API, status.Code, p.request.Model, p.fill(status.Message)))
}

// errorBody is a failure in the words of the protocol.
func errorBody(api string, code int, model, message string) any {
	if api == OpenAI {
		return openAIError(code, model, message)
	}
	return anthropicError(code, model, message)
}
