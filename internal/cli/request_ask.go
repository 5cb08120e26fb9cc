package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"orchestrate/internal/planner"
)

// intake asks the person at the terminal what the request leaves open, and makes
// request.md of it. Without a terminal of theirs nothing is asked; more says that
// something was answered.
func (p *planned) intake(ctx context.Context, request string) (text string, more bool, err error) {
	plain := planner.Markdown(request, nil)
	if p.opts.unattended() || p.opts.yes {
		return plain, false, nil
	}
	tty, _ := attended(p.sys)
	if tty == nil {
		return plain, false, nil
	}
	defer tty.Close()
	brakes, done := stoppable(ctx, p.sys)
	defer done()
	if _, err := io.WriteString(tty, "Four questions that make a better plan; Enter leaves one out.\n"); err != nil {
		return "", false, failure(err)
	}
	in, answers := bufio.NewReader(tty), []string(nil)
	for _, q := range planner.Questions() {
		said, err := answered(brakes.work, tty, in, q)
		if brakes.work.Err() != nil {
			sayNothingBegun(p.sys)
			return "", false, exit(exitInterrupted)
		}
		if err != nil {
			return "", false, failure(fmt.Errorf("the terminal went away while it was asked: %w; nothing was begun", err))
		}
		answers = append(answers, said)
	}
	text = planner.Markdown(request, answers)
	return text, text != plain, nil
}

// answered is what the person types after a question.
func answered(ctx context.Context, out io.Writer, in *bufio.Reader, question string) (string, error) {
	if _, err := fmt.Fprintf(out, "%s ", question); err != nil {
		return "", err
	}
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := in.ReadString('\n')
		typed <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-typed:
		if errors.Is(l.err, io.EOF) { // Ctrl-D leaves it out, as Enter does
			l.err = nil
		}
		return l.text, l.err
	}
}
