package client

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// Main is the process: it reads a Turn from in, or the prompt of the one that is in
// args, and writes lines to out; the agent's standard error goes to errs. It returns
// the exit status, 0 if the turn, or the probe, came to its end, whatever that was.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stops)
	turn, err := readTurn(args, in)
	if err != nil {
		return refuse(out, fmt.Sprintf("what this command reads is a turn in JSON, from the engine: %v", err))
	}
	return Run(turn, out, errs, stops)
}

func readTurn(args []string, in io.Reader) (turn acp.Turn, err error) {
	if len(args) == 0 {
		err = json.NewDecoder(in).Decode(&turn)
		return turn, err
	}
	if err = json.Unmarshal([]byte(args[0]), &turn); err != nil {
		return turn, err
	}
	prompt, err := io.ReadAll(in)
	turn.Prompt = string(prompt)
	return turn, err
}

// refuse says why there is no turn at all.
func refuse(out io.Writer, text string) int {
	(&printer{to: out}).line(acp.Line{Type: acp.LineError, Reason: runtime.ReasonSpawn, Text: short(text)})
	return 1
}

// client is one turn with one agent.
type client struct {
	turn    acp.Turn
	rule    rule
	out     *printer
	agent   *agent
	channel *channel

	mu        sync.Mutex // of all below
	session   session
	uses      map[string]*use // tools that are at work, by the agent's id
	asked     map[string]bool // methods that this client does not have
	cost      *float64
	prompting bool // the turn is under way
	stopping  bool // it was told to stop
	stopped   bool // and has said how it ended
}

// Run has the turn. The first of stops cancels it politely, the second ends the
// agent at once. It always comes back, whatever the agent does, but waits for a
// turn as long as that takes.
func Run(turn acp.Turn, out, errs io.Writer, stops <-chan os.Signal) int {
	if turn.Grace <= 0 {
		turn.Grace = acp.DefaultGrace
	}
	c := &client{turn: turn, out: &printer{to: out}, uses: map[string]*use{}, asked: map[string]bool{}}
	var err error
	if c.turn.Dir == "" {
		if c.turn.Dir, err = os.Getwd(); err != nil {
			return refuse(out, "the folder to work in: "+err.Error())
		}
	}
	if c.rule, err = newRule(c.turn); err != nil {
		return refuse(out, err.Error())
	}
	if c.agent, err = start(c.turn, errs); err != nil {
		return refuse(out, "the agent could not be started: "+err.Error())
	}
	c.channel = open(c.agent.stdin, c.agent.stdout, c.hear, c.answer, c.out.warn)
	over, watched := make(chan struct{}), make(chan struct{})
	go func() { c.watch(stops, over); close(watched) }()
	act := c.work
	if turn.Probe {
		act = c.probe
	}
	status := c.report(act())
	c.agent.end()
	close(over)
	<-watched
	if c.out.failed() {
		return 1
	}
	return status
}

// report tells of a turn that did not come to its end.
func (c *client) report(f *failure) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopping && !c.stopped:
		c.out.line(acp.Line{Type: acp.LineStop, StopReason: "cancelled", Asked: true})
		return 1
	case f != nil:
		c.out.line(acp.Line{Type: acp.LineError, Reason: f.class, Text: short(f.text), RetryAfterMs: f.delay})
		return 1
	}
	return 0
}

// watch obeys the signals until all is over.
func (c *client) watch(stops <-chan os.Signal, over <-chan struct{}) {
	select {
	case <-stops:
	case <-over:
		return
	}
	var ending sync.WaitGroup
	defer ending.Wait()
	ending.Go(c.cancel)
	timer := time.NewTimer(c.turn.Grace)
	defer timer.Stop()
	for {
		select {
		case <-stops:
			c.agent.kill()
		case <-timer.C: // it does not even answer that
			ending.Go(c.agent.end)
		case <-over:
			return
		}
	}
}
