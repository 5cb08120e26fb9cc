//go:build linux

package client

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

func TestAPlainTurn(t *testing.T) {
	r := have(t, `{"turn":[{"text":"Hel"},{"text":"lo, "},{"text":"{{prompt}}"},{"stderr":"a log line"},
		{"stop":"end_turn","usage":{"inputTokens":10,"outputTokens":3,"cachedReadTokens":5,"totalTokens":18}}]}`,
		acp.Turn{Prompt: "world \"x\"\n{}"})
	r.completed(t, "Hello, world \"x\"\n{}")
	if r.Outcome.SessionID != "session-1" || r.Outcome.ObservedModel != "" || !r.Outcome.WorkBegun {
		t.Errorf("outcome %+v", r.Outcome)
	}
	if u := r.Outcome.Usage; u == nil || *u.InputTokens != 15 || *u.OutputTokens != 3 || u.CostUSD != nil {
		t.Errorf("usage %+v", u)
	}
	var kinds []runtime.EventKind
	for _, e := range r.Events {
		kinds = append(kinds, e.Kind)
	}
	if want := []runtime.EventKind{"session", "usage", "text", "answer", "completed"}; !slices.Equal(kinds, want) {
		t.Errorf("events %q, want %q", kinds, want)
	}
	if r.stderr != "a log line\n" {
		t.Errorf("standard error %q", r.stderr)
	}
}

func TestTheAnswerIsTheLastMessage(t *testing.T) {
	r := have(t, `{"turn":[{"text":"I look. "},
		{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read","kind":"read","status":"pending","content":[]}},
		{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","title":"Read a.txt","locations":[{"path":"{{cwd}}/a.txt","line":null}]}},
		{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"its text"}}]}},
		{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"a thought"}}},
		{"update":{"sessionUpdate":"plan","entries":[]}},{"update":{"sessionUpdate":"of a new kind","x":[1]}},
		{"text":"Done"},{"text":"."}]}`, acp.Turn{})
	r.completed(t, "Done.")
	var told []string
	for _, e := range r.Events {
		told = append(told, string(e.Kind)+" "+e.Tool+" "+strings.ReplaceAll(e.Text.Unshown(), r.Dir, "DIR"))
	}
	want := []string{
		"session  ", "text  I look. ", "tool read Read a.txt DIR/a.txt", "tool_done read completed Read a.txt DIR/a.txt its text",
		"text  Done.", "answer  Done.", "completed  ",
	}
	if !slices.Equal(told, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestHowATurnEnds(t *testing.T) {
	for stop, why := range map[string]runtime.Reason{
		"max_tokens": runtime.ReasonCrash, "max_turn_requests": runtime.ReasonTurnCap, "refusal": runtime.ReasonCrash,
		"cancelled": runtime.ReasonCrash, "something new": runtime.ReasonCrash,
	} {
		r := have(t, `{"turn":[{"text":"half"},{"stop":"`+stop+`"}]}`, acp.Turn{})
		if r.status != 0 || r.Outcome.Completed || !r.Outcome.ErrorFlag || r.Outcome.Reason != why || !strings.Contains(r.Outcome.Evidence.Unshown(), stop) {
			t.Errorf("%s: status %d, %+v", stop, r.status, r.Outcome)
		}
	}
	for error, why := range map[string]runtime.Reason{
		`{"code":-32000,"message":"Authentication required"}`:                                runtime.ReasonAuth,
		`{"code":429,"message":"Too many, retry in 12s"}`:                                    runtime.ReasonRateLimit,
		`{"code":-32603,"message":"Internal error","data":{"details":"insufficient_quota"}}`: runtime.ReasonQuota,
		`{"code":-32603,"message":"Internal error","data":"model x does not exist"}`:         runtime.ReasonUnknownModel,
		`{"code":-32603,"message":"fetch failed"}`:                                           runtime.ReasonNetwork,
		`{"code":-32603,"message":"Internal error"}`:                                         runtime.ReasonCrash,
	} {
		r := have(t, `{"turn":[{"error":`+error+`}]}`, acp.Turn{})
		r.failed(t, why, "session/prompt")
		if delay := r.Outcome.RetryAfterMs; (why == runtime.ReasonRateLimit) != (delay == 12_000) {
			t.Errorf("%s: the stated delay is %d ms", error, delay)
		}
	}
}

func TestBadAgents(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		says   string
	}{
		"ends at once":          {`{"begin":[{"stderr":"bad flag"},{"exit":3}]}`, "exit status 3) before it answered initialize; its last line on standard error: bad flag"},
		"ends in the turn":      {`{"turn":[{"text":"half"},{"exit":7}]}`, "exit status 7) before it answered session/prompt"},
		"another version":       {`{"initialize":{"protocolVersion":9}}`, "version 9 of the protocol"},
		"no session id":         {`{"session":{}}`, "no id"},
		"no object":             {`{"session":["x"]}`, "no id"},
		"refuses a session":     {`{"sessionError":{"code":-32603,"message":"no room"}}`, "no room"},
		"no reason to stop":     {`{"turn":[{"raw":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"},{"hang":true}]}`, "without a reason"},
		"too long a message":    {`{"turn":[{"text":"0123456789abcdef","repeat":600000},{"hang":true}]}`, "more than 8 MiB"},
		"babbles":               {`{"begin":[{"raw":"y","repeat":1100000},{"hang":true}]}`, "no messages of the protocol"},
		"half a line and death": {`{"turn":[{"raw":"{\"jsonrpc\":\"2.0\",\"id\":3,"},{"exit":0}]}`, "exit status 0) before it answered session/prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have(t, c.script, acp.Turn{Grace: brief}).failed(t, runtime.ReasonCrash, c.says)
		})
	}
}

func TestAnAgentThatCannotBeStarted(t *testing.T) {
	have(t, "", acp.Turn{Agent: []string{"/nowhere/agent"}}).failed(t, runtime.ReasonSpawn, "/nowhere/agent")
	have(t, "{}", acp.Turn{Dir: "relative"}).failed(t, runtime.ReasonSpawn, "not absolute")
	have(t, "{}", acp.Turn{AllowedTools: []string{"raed"}}).failed(t, runtime.ReasonSpawn, `nearest is "read"`)
}

func TestGarbageAmongMessagesIsSaidAndSurvived(t *testing.T) {
	r := have(t, `{"begin":[{"raw":"INFO hello"},{"raw":"[1,2]"},{"raw":"\"x\""},{"raw":"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}"},
		{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"_new/notice\",\"params\":3}"},{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{}}"},
		{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":\"x\"}}"}],
		"turn":[{"update":{"sessionUpdate":"tool_call","toolCallId":7}},{"update":{"sessionUpdate":"agent_message_chunk","content":[]}},{"text":"ok"}]}`, acp.Turn{})
	r.completed(t, "ok")
	warnings := r.of(acp.LineWarning)
	if len(warnings) != 5 || !strings.Contains(warnings[0].Text, "INFO hello") || !strings.Contains(warnings[3].Text, "not asked") {
		t.Errorf("warnings %+v", warnings)
	}
}

// The answer and the end of the agent come in the same moment.
func TestAnAnswerIsNotLostWhenTheAgentLeavesAtOnce(t *testing.T) {
	script := `{"turn":[{"text":"bye"},{"raw":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}"},{"exit":5}]}`
	for range 20 {
		have(t, script, acp.Turn{}).completed(t, "bye")
	}
}

// More than the library would queue.
func TestManyUpdates(t *testing.T) {
	steps := strings.Repeat(`{"text":"x"},`, 3000)
	have(t, `{"turn":[`+steps+`{"stop":"end_turn"}]}`, acp.Turn{}).completed(t, strings.Repeat("x", 3000))
}

func TestALongTextIsCutIntoLines(t *testing.T) {
	r := have(t, `{"turn":[{"text":"ä","repeat":300000}]}`, acp.Turn{})
	r.completed(t, strings.Repeat("ä", 300_000))
	if texts := r.of(acp.LineText); len(texts) != 3 {
		t.Errorf("%d lines", len(texts))
	}
}

func TestUnknownRequestsAreAnsweredPolitely(t *testing.T) {
	r := have(t, `{"turn":[{"method":"craft/drain","params":{}},{"text":"{{reply}} "},{"method":"craft/drain","params":{}},{"method":"_x/y","params":[1]},{"text":"{{reply}}"}]}`, acp.Turn{})
	if strings.Count(r.text(), "-32601") != 2 || len(r.of(acp.LineWarning)) != 2 {
		t.Errorf("said %q, lines %+v", r.text(), r.lines)
	}
	r.completed(t, r.text())
}

// Some agents want the client to write a file that they then write themselves.
func TestFilesAndTerminalsOfTheClientAreRefused(t *testing.T) {
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/kill"} {
		r := have(t, `{"turn":[{"method":"`+method+`","params":{"sessionId":"s","path":"{{cwd}}/x","command":"rm","content":"c"}},{"text":"{{reply}}"}]}`,
			acp.Turn{Access: runtime.AccessShell})
		if w := r.of(acp.LineWarning); !strings.Contains(r.text(), "-32601") || len(w) != 1 || !strings.Contains(w[0].Text, method) {
			t.Errorf("%s: said %q, warnings %+v", method, r.text(), w)
		}
		if _, err := os.Lstat(r.Dir + "/x"); err == nil {
			t.Errorf("%s was carried out", method)
		}
		r.completed(t, r.text())
	}
}

func TestASessionIsGoneOnWith(t *testing.T) {
	const caps = `"initialize":{"protocolVersion":1,"agentCapabilities":{"loadSession":%t,"sessionCapabilities":{"resume":%s}}}`
	turn := `,"history":[{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}},
		{"sessionUpdate":"tool_call","toolCallId":"1","title":"old","kind":"read","status":"completed"}],
		"session":{"modes":null,"configOptions":null},"turn":[{"text":"new in {{session}}"},
		{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":3,"currency":"USD"}}}]`
	for _, c := range []struct {
		load   bool
		resume string
	}{{true, "null"}, {true, "{}"}, {false, "{}"}} {
		r := have(t, "{"+fmt.Sprintf(caps, c.load, c.resume)+turn+"}", acp.Turn{Resume: "before"})
		r.completed(t, "new in before")
		if r.Outcome.SessionID != "before" || len(r.of(acp.LineTool)) != 0 || r.Outcome.Usage != nil {
			t.Errorf("%+v: %s", c, r.stdout)
		}
	}
	have(t, "{"+fmt.Sprintf(caps, false, "null")+"}", acp.Turn{Resume: "before"}).failed(t, runtime.ReasonUnknownFlag, "neither session/resume nor session/load")
	have(t, `{"sessionError":{"code":-32602,"message":"no such session"}}`, acp.Turn{Resume: "before"}).failed(t, runtime.ReasonCrash, "session/load", "no such session")
}

func TestCostIsTheLastThatWasReported(t *testing.T) {
	r := have(t, `{"turn":[{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}},
		{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.75,"currency":"USD"}}},
		{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":9,"currency":"EUR"}}},{"text":"x"}]}`, acp.Turn{})
	if u := r.Outcome.Usage; u == nil || u.InputTokens != nil || u.CostUSD == nil || *u.CostUSD != 0.75 {
		t.Errorf("usage %+v", u)
	}
}

// What the client must not tell anybody.
func TestTheEnvironmentIsNotPrinted(t *testing.T) {
	t.Setenv("SOME_API_KEY", "made-up-key-4711")
	r := have(t, `{"begin":[{"raw":"x"}],"turn":[{"exit":1}]}`, acp.Turn{})
	if strings.Contains(r.stdout+r.stderr, os.Getenv("SOME_API_KEY")) {
		t.Error("it was printed")
	}
}
