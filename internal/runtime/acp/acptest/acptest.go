// Package acptest is an agent of the Agent Client Protocol for tests: a program that
// plays a script, well-behaved or not. It speaks the protocol by hand, so that it can
// also break it.
package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Script is how the agent behaves. What is absent is a modest agent's answer.
type Script struct {
	Initialize   json.RawMessage   `json:"initialize"`   // result
	Session      json.RawMessage   `json:"session"`      // result of session/new, load and resume
	SessionError *Error            `json:"sessionError"` // …or its error
	History      []json.RawMessage `json:"history"`      // updates that session/load tells again
	Stubborn     bool              `json:"stubborn"`     // settings are acknowledged and not made
	Begin        []Step            `json:"begin"`        // before the first question is read
	Turn         []Step            `json:"turn"`
	StayOnEOF    bool              `json:"stayOnEOF"`  // does not leave when its input ends
	IgnoreTerm   bool              `json:"ignoreTerm"` // nor when it is told to
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Step is one thing that the agent does; exactly one field is set. In all texts
// {{prompt}}, {{cwd}}, {{session}} and {{reply}}, which is what the client answered
// last, are replaced.
type Step struct {
	Text   string          `json:"text,omitempty"`   // a piece of a message
	Update json.RawMessage `json:"update,omitempty"` // a session/update
	Ask    json.RawMessage `json:"ask,omitempty"`    // a permission request; waits for its answer
	Method string          `json:"method,omitempty"` // any other request, with Params; waits likewise
	Params json.RawMessage `json:"params,omitempty"`
	Raw    string          `json:"raw,omitempty"`    // a line as it is
	Repeat int             `json:"repeat,omitempty"` // of Raw or Text, that many times in one line
	Stderr string          `json:"stderr,omitempty"`
	Hang   bool            `json:"hang,omitempty"` // until the turn is cancelled, then that is its end
	Deaf   bool            `json:"deaf,omitempty"` // for ever
	Exit   *int            `json:"exit,omitempty"`
	Error  *Error          `json:"error,omitempty"` // the turn ends with it
	Stop   string          `json:"stop,omitempty"`  // the turn ends; without such a step with end_turn
	Usage  json.RawMessage `json:"usage,omitempty"` // beside Stop
}

// Main plays the script that is in the file args[0] and returns the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	raw, err := os.ReadFile(args[0])
	var script Script
	if err == nil {
		err = json.Unmarshal(raw, &script)
	}
	if err != nil {
		fmt.Fprintln(errs, "acptest:", err)
		return 2
	}
	if script.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	a := &agent{script: script, out: out, errs: errs, incoming: make(chan message), words: map[string]string{}}
	go a.read(in)
	return a.run()
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// message is one of any kind.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

type agent struct {
	script   Script
	out      io.Writer
	errs     io.Writer
	incoming chan message // closed at the end of the input
	words    map[string]string
	asked    int
	exit     *int
}

func (a *agent) read(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			close(a.incoming)
			return
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			a.incoming <- m
		}
	}
}

func (a *agent) run() int {
	a.play(a.script.Begin)
	for a.exit == nil {
		m, ok := <-a.incoming
		if !ok {
			if a.script.StayOnEOF {
				forever()
			}
			return 0
		}
		if len(m.ID) > 0 && m.Method != "" {
			a.serve(m)
		}
	}
	return *a.exit
}

func (a *agent) serve(m message) {
	switch m.Method {
	case "initialize":
		a.reply(m, or(a.script.Initialize, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"acptest","version":"1.2.3"},"authMethods":[]}`))
	case "session/new", "session/load", "session/resume":
		a.openSession(m)
	case "session/set_config_option":
		a.setOption(m)
	case "session/set_mode", "session/set_model":
		a.reply(m, json.RawMessage(`{}`))
	case "session/prompt":
		a.turn(m)
	default:
		a.fail(m, Error{Code: -32601, Message: "Method not found"})
	}
}

func (a *agent) openSession(m message) {
	var p struct {
		Cwd       string `json:"cwd"`
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.Params, &p) // a client of our own
	a.words["cwd"], a.words["session"] = p.Cwd, p.SessionID
	if p.SessionID == "" {
		a.words["session"] = "session-1"
	}
	if a.script.SessionError != nil {
		a.fail(m, *a.script.SessionError)
		return
	}
	if m.Method == "session/load" {
		for _, u := range a.script.History {
			a.update(u)
		}
	}
	a.reply(m, a.fill(or(a.script.Session, `{"sessionId":"{{session}}"}`)))
}

// setOption answers with all options, as the protocol wants.
func (a *agent) setOption(m message) {
	var p struct {
		ID    string `json:"configId"`
		Value any    `json:"value"`
	}
	var session map[string]any
	_ = json.Unmarshal(m.Params, &p)               // a client of our own
	_ = json.Unmarshal(a.script.Session, &session) // checked when it was sent
	options, _ := session["configOptions"].([]any)
	for _, o := range options {
		if option, ok := o.(map[string]any); ok && option["id"] == p.ID && !a.script.Stubborn {
			option["currentValue"] = p.Value
		}
	}
	a.script.Session, _ = json.Marshal(session) // it came from JSON
	a.reply(m, map[string]any{"configOptions": options})
}

// turn plays the script's turn.
func (a *agent) turn(m message) {
	var p struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	_ = json.Unmarshal(m.Params, &p) // a client of our own
	if len(p.Prompt) > 0 {
		a.words["prompt"] = p.Prompt[0].Text
	}
	last := a.play(a.script.Turn)
	switch {
	case a.exit != nil:
	case last.Error != nil:
		a.fail(m, *last.Error)
	case last.Stop != "":
		a.reply(m, map[string]any{"stopReason": last.Stop, "usage": last.Usage})
	default:
		a.reply(m, map[string]any{"stopReason": "end_turn"})
	}
}

// play takes the steps and returns the one that ended them.
func (a *agent) play(steps []Step) (last Step) {
	for _, s := range steps {
		raw, _ := json.Marshal(s) // it came from JSON
		var filled Step
		_ = json.Unmarshal(a.fill(raw), &filled) // and is such again
		if end, over := a.step(filled); over {
			return end
		}
	}
	return Step{}
}

func (a *agent) step(s Step) (end Step, over bool) {
	switch {
	case s.Exit != nil, s.Error != nil, s.Stop != "":
		a.exit = s.Exit
		return s, true
	case s.Hang:
		a.cancelled()
		return Step{Stop: "cancelled"}, true
	case s.Deaf:
		forever()
	case s.Text != "":
		text, _ := json.Marshal(strings.Repeat(s.Text, max(1, s.Repeat))) // a string
		a.update(fmt.Appendf(nil, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, text))
	case s.Update != nil:
		a.update(s.Update)
	case s.Ask != nil:
		a.ask("session/request_permission", s.Ask)
	case s.Method != "":
		a.ask(s.Method, s.Params)
	case s.Raw != "":
		fmt.Fprintln(a.out, strings.Repeat(s.Raw, max(1, s.Repeat)))
	case s.Stderr != "":
		fmt.Fprintln(a.errs, s.Stderr)
	}
	return Step{}, false
}

// cancelled waits for that; the end of the input is one, too.
func (a *agent) cancelled() {
	for m := range a.incoming {
		if m.Method == "session/cancel" {
			return
		}
	}
	a.exit = new(0)
	if a.script.StayOnEOF {
		forever()
	}
}

// ask sends a request and keeps the answer.
func (a *agent) ask(method string, params json.RawMessage) {
	a.asked++
	a.send(map[string]any{"id": fmt.Sprintf("ask-%d", a.asked), "method": method, "params": params})
	for m := range a.incoming {
		if m.Method == "" {
			a.words["reply"] = string(or(m.Result, string(m.Error)))
			return
		}
	}
	a.exit = new(0)
}

func (a *agent) update(u json.RawMessage) {
	a.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": a.words["session"], "update": u}})
}

func (a *agent) reply(to message, result any) { a.send(map[string]any{"id": to.ID, "result": result}) }

func (a *agent) fail(to message, e Error) { a.send(map[string]any{"id": to.ID, "error": e}) }

func (a *agent) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		fmt.Fprintln(a.errs, "acptest:", err)
		return
	}
	fmt.Fprintf(a.out, "%s\n", raw)
}

// fill replaces the words in JSON.
func (a *agent) fill(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	for name, value := range a.words {
		quoted, _ := json.Marshal(value) // a string
		text = strings.ReplaceAll(text, "{{"+name+"}}", string(quoted[1:len(quoted)-1]))
	}
	return json.RawMessage(text)
}

func or(raw json.RawMessage, otherwise string) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(otherwise)
	}
	return raw
}
