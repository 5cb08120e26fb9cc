package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrate/internal/detach"
	"orchestrate/internal/engine"
	"orchestrate/internal/runtime/environ"
)

// asker puts the questions of an engine in this process to the person: at the terminal
// of the viewer, or where there is none apart from this process, at its own. Who has not
// asked to be talked to is not asked. ask is the question itself, "" = whether a job may run.
func asker(sys System, how manner, ask string) func(context.Context, engine.Question) engine.Answer {
	if how.unattended() {
		return nil
	}
	if e := sys.engine; e != nil {
		return func(ctx context.Context, q engine.Question) engine.Answer {
			a := e.control.Ask(ctx, q.Shown, e.said())
			return engine.Answer{Asked: a.Asked, Yes: a.Yes, By: a.By}
		}
	}
	return func(ctx context.Context, q engine.Question) engine.Answer {
		tty := newApprover(sys)
		if ask != "" {
			tty.ask = ask
		}
		tty.put(detach.Question{Text: q.Shown})
		var a detach.Answer
		select {
		case a = <-tty.answers:
		case <-ctx.Done():
		}
		if tty.close() != nil {
			return engine.Answer{}
		}
		return engine.Answer{Asked: a.Asked, Yes: a.Yes}
	}
}

// approver shows what needs an approval at the terminal of who waits for this process,
// and hears what they say.
type approver struct {
	sys     System
	ask     string   // what follows the text of a question
	tty     *os.File // nil until something is asked there
	told    bool     // that an agent is not asked
	answers chan detach.Answer
}

func newApprover(sys System) approver {
	return approver{sys: sys, ask: "Approve exactly this, for this run? [y/N] ", answers: make(chan detach.Answer, 1)}
}

// put asks one question; its answer comes through the channel. Nothing that was typed
// before counts.
func (a *approver) put(q detach.Question) {
	if a.tty == nil {
		a.find()
	}
	if a.tty == nil || forget(a.tty) != nil {
		a.answers <- detach.Answer{N: q.N}
		return
	}
	if _, err := io.WriteString(a.tty, "\n"+q.Text+a.ask); err != nil {
		a.answers <- detach.Answer{N: q.N}
		return
	}
	tty := a.tty
	go func() {
		text, err := bufio.NewReader(tty).ReadString('\n')
		a.answers <- detach.Answer{N: q.N, Asked: true, Yes: err == nil && agreed(text)} // what came before a hang-up is no yes
	}()
}

// attended is the terminal of the person who waits for this command. Where a coding agent
// started it there is none: what was typed there would be the agent's word. agent is then
// the variable that says so.
func attended(sys System) (tty *os.File, agent string) {
	tty = person(sys.In)
	if agent = environ.HostedBy(sys.Env); tty == nil || agent == "" {
		return tty, ""
	}
	_ = tty.Close() // nothing was written to it
	return nil, agent
}

// find looks for the terminal, and says once why an agent's is none.
func (a *approver) find() {
	var agent string
	if a.tty, agent = attended(a.sys); agent != "" && !a.told {
		a.told = true
		fmt.Fprintf(a.sys.Err, "note: %s says that a coding agent runs this command, so nobody is asked here: the user is, who runs it in a terminal of their own\n", agent)
	}
}

func (a *approver) close() error {
	if a.tty == nil {
		return nil
	}
	return a.tty.Close()
}

// agreed reports whether an answer is a clear yes.
func agreed(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true
	}
	return false
}
