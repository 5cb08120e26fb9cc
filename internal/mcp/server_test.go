package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a program that says what a test wants, and remembers what it was asked.
type fake struct {
	mu    sync.Mutex
	calls []Command
	say   func(ctx context.Context, c Command) Outcome
	ask   func(ctx context.Context, ask Ask) Outcome
}

func (f *fake) host(dir string) Host {
	return Host{
		Version: "1.2.3", Cwd: dir, Root: func(string) string { return dir },
		Call: func(ctx context.Context, c Command) Outcome {
			f.mu.Lock()
			f.calls = append(f.calls, c)
			f.mu.Unlock()
			return f.say(ctx, c)
		},
		Approve: func(ctx context.Context, _, _ string, ask Ask) Outcome { return f.ask(ctx, ask) },
		Checked: func(_, text string) error {
			if strings.Contains(text, "hunter2") {
				return errors.New("line 1, column 1 looks like a secret (test)")
			}
			return nil
		},
	}
}

func (f *fake) last() Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[len(f.calls)-1]
}

// connect serves f to a client, until the test ends.
func connect(t *testing.T, f *fake, opts *sdk.ClientOptions, roots ...string) *sdk.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	dir := t.TempDir()
	go func() { served <- Serve(t.Context(), f.host(dir), fromClient, toClient) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	for _, r := range roots {
		client.AddRoots(&sdk.Root{URI: "file://" + filepath.ToSlash(r)}) //nolint:staticcheck // what clients have today
	}
	session, err := client.Connect(context.Background(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		toServer.Close()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		toClient.Close()
	})
	return session
}

// use calls a tool.
func use(t *testing.T, s *sdk.ClientSession, name string, args map[string]any) (text string, doc map[string]any, failed bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	whole, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole) > 110<<10 {
		t.Errorf("the result of %s has %d bytes", name, len(whole))
	}
	doc, _ = res.StructuredContent.(map[string]any)
	return res.Content[0].(*sdk.TextContent).Text, doc, res.IsError
}

const state = `{"schemaVersion":1,"runId":"r1","phase":"ended","verdict":"fail","jobs":[{"id":"good","status":"success"},{"id":"bad","status":"failed","reason":"check_failed","evidence":"no"},{"id":"mine","status":"awaiting"}]}`

func says(exit int, out, complaint string) func(context.Context, Command) Outcome {
	return func(context.Context, Command) Outcome { return Outcome{Exit: exit, Out: out, Err: complaint} }
}

func TestEveryToolHasWordsAndBounds(t *testing.T) {
	s := connect(t, &fake{}, nil)
	res, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
		in, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct {
				Type        string
				Description string
				Maximum     *float64
			}
			AdditionalProperties any
		}
		if err := json.Unmarshal(in, &schema); err != nil {
			t.Fatalf("%s: %v in %s", tool.Name, err, in)
		}
		for name, p := range schema.Properties {
			if p.Description == "" && name != "usage" || p.Type == "" {
				t.Errorf("%s.%s has no description or no single type", tool.Name, name)
			}
			if name == "seconds" && (p.Maximum == nil || *p.Maximum != 50) {
				t.Errorf("%s.seconds has no bound", tool.Name)
			}
		}
		if out, err := json.Marshal(tool.OutputSchema); err != nil || strings.Contains(string(in)+string(out), `"type":[`) {
			t.Errorf("%s: a type is a list: %s %s (%v)", tool.Name, in, out, err)
		}
		a := tool.Annotations
		if changes := strings.Contains("approve cancel next plan start submit", tool.Name); a.ReadOnlyHint == changes || *a.DestructiveHint != (tool.Name == "approve" || tool.Name == "cancel") {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		if tool.Description == "" || tool.OutputSchema == nil || schema.AdditionalProperties != false {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	want := []string{"approve", "cancel", "doctor", "explain", "next", "output", "plan", "report", "start", "status", "submit", "wait"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("tools: %v", names)
	}
	if in := s.InitializeResult(); !strings.Contains(in.Instructions, "next") || in.ServerInfo.Version != "1.2.3" {
		t.Errorf("%+v", in)
	}
}

func TestWaitSaysWhereARunStandsAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		exit int
		next string
	}{{0, "report"}, {1, "report"}, {3, "approve"}, {4, "next {run"}, {5, "wait {run"}, {124, "orchestrate resume r1"}, {130, "orchestrate resume r1"}} {
		f := &fake{say: says(c.exit, state, "something")}
		_, doc, failed := use(t, connect(t, f, nil), "wait", map[string]any{"run": "r1", "seconds": 7})
		if failed || doc["exitStatus"] != float64(c.exit) || !strings.Contains(fmt.Sprint(doc["next"]), c.next) || doc["messages"] != "something" {
			t.Errorf("%d: %v", c.exit, doc)
		}
		if got := f.last().Line(); !slices.Equal(got, []string{"wait", "--json", "--timeout", "7s", "--", "r1"}) {
			t.Errorf("called %q", got)
		}
		jobs := doc["jobs"].([]any)
		if first := jobs[0].(map[string]any); first["id"] != "mine" || fmt.Sprint(doc["awaiting"]) != "[mine]" || doc["verdict"] != "fail" {
			t.Errorf("%v", doc)
		}
	}
}

func TestACommandThatFailsIsAnErrorToActOn(t *testing.T) {
	f := &fake{say: says(2, "", `orchestrate: "nope" is neither a run directory nor the id of a run; the newest runs: r1, r2`)}
	s := connect(t, f, nil)
	for name, args := range map[string]map[string]any{
		"wait": {"run": "nope"}, "status": {"run": "nope"}, "output": {"run": "nope", "job": "a"}, "explain": {"run": "nope", "job": "a"},
		"report": {"run": "nope"}, "cancel": {"run": "nope"}, "next": {"run": "nope"}, "approve": {"run": "nope"},
		"submit": {"run": "nope", "job": "a", "attempt": "a.a1.x", "result": "x"}, "plan": {"spec": "x.yaml"}, "start": {"spec": "x.yaml"}, "doctor": {},
	} {
		text, _, failed := use(t, s, name, args)
		if !failed || !strings.Contains(text, "the newest runs: r1, r2") || !strings.Contains(text, "next: ") || !strings.Contains(text, "exit status 2") {
			t.Errorf("%s: %v %s", name, failed, text)
		}
	}
}

func TestASpecThatIsWrongIsSaidWithItsPlaces(t *testing.T) {
	f := &fake{say: says(2, `{"schemaVersion":1,"diagnostics":[{"file":"/w/a.yaml","line":3,"col":5,"field":"jobs[0].x","message":"unknown key"}]}`, "")}
	for _, tool := range []string{"plan", "start"} {
		text, _, failed := use(t, connect(t, f, nil), tool, map[string]any{"spec": "/w/a.yaml"})
		if !failed || !strings.Contains(text, "/w/a.yaml:3:5: jobs[0].x: unknown key") || !strings.Contains(text, "so "+tool+" did nothing") {
			t.Errorf("%s", text)
		}
	}
	f.say = says(2, `{"schemaVersion":1,"diagnostics":[{"file":"/w/a.yaml","line":1,"col":1,"message":"no such file"}]}`, "")
	if text, _, _ := use(t, connect(t, f, nil), "plan", map[string]any{"spec": "/w/a.yaml"}); !strings.Contains(text, "/w/a.yaml:1:1: no such file") {
		t.Errorf("%s", text)
	}
}

func TestASpecAsTextIsAFileOnlyIfItIsTaken(t *testing.T) {
	f := &fake{say: says(0, `{"runId":"r1","runDir":"/w/r1"}`, "")}
	s := connect(t, f, nil)
	_, doc, failed := use(t, s, "start", map[string]any{"specYaml": "version: 1\n"})
	path, _ := doc["spec"].(string)
	if text, err := os.ReadFile(path); failed || err != nil || string(text) != "version: 1\n" || !strings.HasSuffix(filepath.ToSlash(filepath.Dir(path)), "plans/reports/specs") {
		t.Errorf("%v: %q, %v", doc, text, err)
	}
	use(t, s, "start", map[string]any{"specYaml": "version: 1\n"})
	if again := f.last().Of[0]; again != path {
		t.Errorf("the same text is in %s and %s", path, again)
	}
	f.say = says(2, `{"diagnostics":[{"message":"no"}]}`, "")
	use(t, s, "plan", map[string]any{"specYaml": "version: 2\n"})
	text, _, _ := use(t, s, "plan", map[string]any{"specYaml": "password: hunter2\n"})
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "looks like a secret") {
		t.Error(text)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 { // and what hides it from git
		t.Errorf("left: %v, %v", left, err)
	}
	text, _, failed = use(t, s, "plan", map[string]any{"specYaml": "a", "spec": "b"})
	if !failed || !strings.Contains(text, "either") {
		t.Error(text)
	}
}

func TestAgentsGoByStandardInput(t *testing.T) {
	f := &fake{say: says(0, `{"runId":"r1","runDir":"/w/r1"}`, "")}
	use(t, connect(t, f, nil), "start", map[string]any{"spec": "/w/a.yaml", "internal": true, "agents": []any{map[string]any{"name": "reader", "tools": []any{"Read"}, "access": "read"}}})
	got := f.last()
	if want := []string{"run", "--detach", "--json", "--internal", "--agents", "-", "--", "/w/a.yaml"}; !slices.Equal(got.Line(), want) {
		t.Errorf("called %q", got.Line())
	}
	if want := `{"schemaVersion":1,"agents":[{"name":"reader","tools":["Read"],"access":"read"}]}`; got.In != want {
		t.Errorf("input %s", got.In)
	}
	if slices.Contains(got.Line(), "--yes") {
		t.Error("it approves")
	}
}

func TestNextAndSubmit(t *testing.T) {
	request := `{"schemaVersion":1,"runId":"r1","request":{"schemaVersion":1,"job":"a","attempt":"a.a1.00000000","agent":"general","prompt":"do it","cwd":"/w","mayRead":[],"mayWrite":[]},"lease":{"attempt":"a.a1.00000000","until":"2026-01-01T00:00:00Z","at":"2026-01-01T00:00:00Z"}}`
	f := &fake{say: says(0, request, "")}
	s := connect(t, f, nil)
	_, doc, failed := use(t, s, "next", map[string]any{"run": "r1", "seconds": 0, "lease": "20m", "by": "-x"})
	got := doc["request"].(map[string]any)
	if failed || got["prompt"] != "do it" || got["attempt"] != "a.a1.00000000" || doc["lease"] == nil {
		t.Errorf("%v", doc)
	}
	if want := []string{"next", "--json", "--wait", "0s", "--lease=20m", "--by=-x", "--", "r1"}; !slices.Equal(f.last().Line(), want) {
		t.Errorf("called %q", f.last().Line())
	}
	f.say = says(0, `{"schemaVersion":1,"takenIn":true,"status":"success","next":"orchestrate wait r1"}`, "")
	use(t, s, "submit", map[string]any{"run": "r1", "job": "a", "attempt": "a.a1.00000000", "result": "all of it", "model": "m", "usage": map[string]any{"inputTokens": 3}})
	if want := []string{"submit", "--json", "--attempt=a.a1.00000000", "--result=-", "--model=m", `--usage={"inputTokens":3}`, "--", "r1", "a"}; !slices.Equal(f.last().Line(), want) || f.last().In != "all of it" {
		t.Errorf("called %q with %q", f.last().Line(), f.last().In)
	}
	if text, _, failed := use(t, s, "submit", map[string]any{"run": "r1", "job": "a", "attempt": "x"}); !failed || !strings.Contains(text, "either result") {
		t.Error(text)
	}
	f.say = says(5, `{"runId":"r1","standing":"running","exitStatus":null,"request":null,"lease":null,"others":[{"job":"b","by":"somebody"}]}`, "nothing awaits you yet")
	if _, doc, failed := use(t, s, "next", map[string]any{"run": "r1", "seconds": 0}); failed || doc["request"] != nil || doc["exitStatus"] != float64(5) || len(doc["others"].([]any)) != 1 {
		t.Errorf("%v", doc)
	}
}

// Whatever a run holds, a result is one that a client takes.
func TestResultsAreBounded(t *testing.T) {
	long := strings.Repeat("a \"line\" of text\\\n", 1<<14)
	many := make([]map[string]any, 400)
	for i := range many {
		many[i] = map[string]any{"id": fmt.Sprintf("job-%d", i), "status": "failed", "evidence": long[:3000], "sideEffects": long[:3000], "route": map[string]any{"why": long[:3000]}, "blocked": map[string]any{"detail": long[:3000]}}
	}
	doc := func(more map[string]any) string {
		m := map[string]any{"schemaVersion": 1, "runId": "r1", "root": "/w", "phase": "ended", "notes": []string{long, long}, "jobs": many}
		for k, v := range more {
			m[k] = v
		}
		data, _ := json.Marshal(m)
		return string(data)
	}
	request := doc(map[string]any{"jobs": nil, "request": map[string]any{"prompt": long, "promptFile": "/w/prompt.md", "checks": []string{long, "b"}, "expectedOutput": long, "mayRead": []string{"/w"}, "mayWrite": []string{}}})
	reported := doc(map[string]any{"jobs": nil, "needsPerson": []string{long, long}, "standing": "ended", "exitStatus": 1})
	f := &fake{}
	s := connect(t, f, nil)
	for name, c := range map[string]struct {
		say  func(context.Context, Command) Outcome
		args map[string]any
	}{
		"wait":   {says(5, doc(nil), long), map[string]any{"run": "r1"}},
		"plan":   {says(3, doc(nil), long), map[string]any{"spec": "/w/a.yaml", "full": true}},
		"output": {says(0, long, ""), map[string]any{"run": "r1", "job": "a"}},
		"explain": {func(_ context.Context, c Command) Outcome {
			if slices.Contains(c.Args, "--json") {
				return Outcome{Out: `{"runId":"r1","job":"a"}`}
			}
			return Outcome{Out: long}
		}, map[string]any{"run": "r1", "job": "a"}},
		"report": {func(_ context.Context, c Command) Outcome {
			if slices.Contains(c.Args, "--json") {
				return Outcome{Out: reported}
			}
			return Outcome{Out: long, Err: long}
		}, map[string]any{"run": "r1"}},
		"next":   {says(0, request, long), map[string]any{"run": "r1"}},
		"cancel": {says(0, long, long), map[string]any{"run": "r1"}},
		"status": {says(2, "", long), map[string]any{"run": "r1"}},
	} {
		f.say = c.say
		text, _, _ := use(t, s, name, c.args)
		if !strings.Contains(text, "left out") && !strings.Contains(text, "LeftOut") {
			t.Errorf("%s does not say that something was left out", name)
		}
	}
}

func TestAClientThatCancelsIsNotWaitedFor(t *testing.T) {
	begun, ended := make(chan bool), make(chan bool, 1)
	f := &fake{say: func(ctx context.Context, _ Command) Outcome {
		close(begun)
		<-ctx.Done()
		ended <- true
		return Outcome{Exit: 5}
	}}
	s := connect(t, f, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"run": "r1"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-ended
	f.say = says(0, state, "")
	if _, _, failed := use(t, s, "status", map[string]any{"run": "r1"}); failed {
		t.Error("the server does not go on")
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	var under sync.WaitGroup
	under.Add(20)
	f := &fake{say: func(context.Context, Command) Outcome {
		under.Done()
		under.Wait() // all of them at the same time
		return Outcome{Out: state}
	}}
	s := connect(t, f, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, doc, _ := use(t, s, "wait", map[string]any{"run": "r1"}); doc["runId"] != "r1" {
				t.Errorf("%v", doc)
			}
		})
	}
	all.Wait()
}

func TestProgressIsTold(t *testing.T) {
	news, heard := make(chan sdk.ProgressNotificationParams, 10), make(chan bool, 10)
	f := &fake{}
	f.say = func(ctx context.Context, c Command) Outcome {
		if c.Args[0] == "attach" {
			c.Each([]byte(`{"seq":1,"kind":"run_started","run":{"jobs":["a","b"]}}`))
			c.Each([]byte(`{"seq":2,"kind":"settled","job":"a","status":"success"}`))
			<-ctx.Done()
			return Outcome{Exit: 5}
		}
		<-heard
		return Outcome{Exit: 1, Out: state}
	}
	s := connect(t, f, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		news <- *r.Params
		heard <- true
	}})
	p := &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"run": "r1"}}
	p.SetProgressToken("t")
	if _, err := s.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := <-news; got.Message != "1 of 2 jobs are over; a: settled success" || got.Progress != 1 || got.Total != 3 {
		t.Errorf("%+v", got)
	}
	// What the records had not told is told before the result.
	if got := <-news; got.Message != "2 of 3 jobs are over; the run has ended and a job or the verdict failed; its verdict is fail" || got.Progress != 4 || got.Total != 4 {
		t.Errorf("%+v", got)
	}
}

func TestTheClientsFolderIsWhereACallWorks(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	f := &fake{say: says(0, state, "")}
	s := connect(t, f, nil, root)
	use(t, s, "status", map[string]any{"run": "r1"})
	if f.last().Cwd != root {
		t.Errorf("it works in %s, not in %s", f.last().Cwd, root)
	}
	use(t, s, "status", map[string]any{"run": "plans/reports/x", "cwd": other})
	if got := f.last(); got.Cwd != other || got.Of[0] != filepath.Join(other, "plans/reports/x") {
		t.Errorf("%+v", got)
	}
	if text, _, failed := use(t, s, "status", map[string]any{"run": "r1", "cwd": filepath.Join(other, "none")}); !failed || !strings.Contains(text, "no folder") {
		t.Error(text)
	}
}

// serve talks to a server by hand.
func serve(t *testing.T, say func(context.Context, Command) Outcome) (in *io.PipeWriter, out *bufio.Reader, ended chan error) {
	t.Helper()
	fromClient, in := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended = make(chan error, 1)
	f := &fake{say: say}
	go func() {
		err := Serve(t.Context(), f.host(t.TempDir()), fromClient, toClient)
		toClient.Close()
		ended <- err
	}()
	return in, bufio.NewReader(fromServer), ended
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func TestBadInputEndsNothing(t *testing.T) {
	in, out, ended := serve(t, says(0, state, ""))
	go func() {
		io.WriteString(in, "garbage\n[]\n{\"jsonrpc\":\"2.0\"}\n\n{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}\n")
		in.Write(bytes.Repeat([]byte("x"), longest+1))
		io.WriteString(in, "\n"+hello)
	}()
	for _, want := range []string{"-32700", "-32600", "-32600", "-32600", "longer than", `"serverInfo"`} {
		line, err := out.ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Fatalf("%s: %v %s", want, err, line)
		}
	}
	in.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A client that goes away in the middle of a call ends the call and the server.
func TestTheServerEndsWithItsClient(t *testing.T) {
	begun, told := make(chan bool), make(chan bool, 1)
	in, out, ended := serve(t, func(ctx context.Context, _ Command) Outcome {
		close(begun)
		<-ctx.Done()
		told <- true
		return Outcome{}
	})
	go io.Copy(io.Discard, out)
	io.WriteString(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{"run":"r1"}}}`+"\n")
	<-begun
	in.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-told
}

// A call that does not listen is left behind; its process ends with the server.
func TestACallThatDoesNotEndIsLeft(t *testing.T) {
	begun, over := make(chan bool), make(chan bool)
	in, out, ended := serve(t, func(context.Context, Command) Outcome {
		close(begun)
		<-over
		return Outcome{}
	})
	go io.Copy(io.Discard, out)
	io.WriteString(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{"run":"r1"}}}`+"\n")
	<-begun
	in.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the server waits for it")
	}
	close(over)
}
