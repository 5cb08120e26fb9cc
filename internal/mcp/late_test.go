package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A prompt that is too long is the name of the file that it is in, and is handed out as
// that: nobody is given one with a hole.
func TestALongPromptIsHandedOutAsItsFile(t *testing.T) {
	f := &fake{}
	s := connect(t, f, nil)
	for name, c := range map[string]struct {
		prompt, prompted, what string
		cut                    bool
	}{
		"long":     {strings.Repeat("word ", 40<<10), "Read the file /w/a b/prompt.md and do exactly what it says.", `let agent "helper" read the file /w/a b/prompt.md and do exactly what it says`, true},
		"not long": {strings.Repeat("word ", 5<<10), strings.Repeat("word ", 5<<10), `let agent "helper" do exactly request.prompt`, false},
	} {
		data, err := json.Marshal(map[string]any{"runId": "r1", "request": map[string]any{"agent": "helper", "prompt": c.prompt, "promptFile": "/w/a b/prompt.md", "mayRead": []string{"/w"}, "mayWrite": []string{"x"}}})
		if err != nil {
			t.Fatal(err)
		}
		f.say = says(0, string(data), "")
		_, doc, _ := use(t, s, "next", map[string]any{"run": "r1"})
		request := doc["request"].(map[string]any)
		if request["prompt"] != c.prompted || !strings.HasPrefix(doc["next"].([]any)[0].(string), c.what) || (doc["cut"] != nil) != c.cut {
			t.Errorf("%s: %.300v", name, doc)
		}
		if fmt.Sprint(request["mayWrite"]) != "[x]" {
			t.Errorf("%s: a list was shortened: %v", name, request["mayWrite"])
		}
	}
}

// A client that says it has folders and does not name them is waited for once, by all
// calls together; what it says late counts from then on.
func TestAClientThatDoesNotNameItsFoldersIsAskedOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var mu sync.Mutex
	var cwds []string
	in, out, ended := serve(t, func(_ context.Context, c Command) Outcome {
		mu.Lock()
		defer mu.Unlock()
		cwds = append(cwds, c.Cwd)
		return Outcome{Out: state}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	asked := 0
	var question json.RawMessage
	answers := func(n int) {
		t.Helper()
		for n > 0 && lines.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method == "roots/list" {
				asked, question = asked+1, m.ID
				continue
			}
			n--
		}
	}
	status := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status","arguments":{"run":"r1"}}}`+"\n", id)
	}
	go io.WriteString(in, strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1)+status(2)+status(3)+status(4))
	answers(4)
	go io.WriteString(in, status(5))
	answers(1)
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	go io.WriteString(in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`+"\n", question, filepath.ToSlash(root)))
	for id, seen := 6, ""; seen != root; id++ { // until the answer is taken in
		go io.WriteString(in, status(id))
		answers(1)
		mu.Lock()
		seen = cwds[len(cwds)-1]
		mu.Unlock()
	}
	if slices.Contains(cwds[:4], root) || asked != 1 {
		t.Errorf("asked %d times; the calls worked in %v", asked, cwds)
	}
	go io.Copy(io.Discard, out)
	in.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Who says all there is to say and closes its end, as a script does, gets the answers.
func TestWhatWasSentBeforeTheEndIsAnswered(t *testing.T) {
	in, out, ended := serve(t, says(0, state, ""))
	go func() {
		io.WriteString(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{"run":"r1"}}}
`)
		in.Close()
	}()
	all, err := io.ReadAll(out)
	for _, want := range []string{`"id":1`, `"id":2`, `"id":3`} {
		if err != nil || !strings.Contains(string(all), want) {
			t.Errorf("no %s in %.500s (%v)", want, all, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWhatIsTooLongInFullIsSaid(t *testing.T) {
	long := strings.Repeat("x", 2*mostPublished)
	f := &fake{say: func(_ context.Context, c Command) Outcome {
		if c.Args[0] == "doctor" {
			return Outcome{Out: fmt.Sprintf(`{"profiles":[{"runtime":"a","reason":%q}]}`, long)}
		}
		return Outcome{Out: fmt.Sprintf(`{"root":"/w","jobs":[],"specPath":%q}`, long)}
	}}
	s := connect(t, f, nil)
	for tool, want := range map[string]string{"doctor": "name runtimes, or see orchestrate doctor --json", "plan": "orchestrate plan '/w/a b.yaml' --json"} {
		args := map[string]any{"full": true}
		if tool == "plan" {
			args["spec"] = "/w/a b.yaml"
		}
		text, doc, _ := use(t, s, tool, args)
		if doc["published"] != nil || !strings.Contains(fmt.Sprint(doc["messages"]), want) {
			t.Errorf("%s: %.300s", tool, text)
		}
		delete(args, "full")
		if _, doc, _ := use(t, s, tool, args); doc["messages"] != nil {
			t.Errorf("%s: %.300v", tool, doc)
		}
	}
}

func TestInputThatIsRefusedIsToldWhatIsTaken(t *testing.T) {
	s := connect(t, &fake{}, nil)
	for _, args := range []map[string]any{{"run": "r1", "seconds": 51}, {"seconds": 1}, {"run": 7}, {"run": "r1", "second": 1}} {
		text, _, failed := use(t, s, "wait", args)
		if want := "next: call wait again with what it takes: cwd (string), run (string, always), seconds (number from 0 to 50)"; !failed || !strings.HasSuffix(text, want) {
			t.Errorf("%v: %s", args, text)
		}
	}
}

// A start that was cancelled may have begun a run, and whoever still reads learns which.
func TestACancelledStartNamesItsRun(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "plans", "reports", "orchestrate-20260101-000000")
	c := call{server: &server{host: Host{Root: func(string) string { return dir }}}, cwd: dir}
	ctx, cancel := context.WithCancel(t.Context())
	begins := true
	c.host.Call = func(context.Context, Command) Outcome {
		if begins {
			if err := os.MkdirAll(run, 0o755); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(run, "journal.jsonl"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
		cancel()
		return Outcome{Exit: 5}
	}
	in := StartIn{OfSpec: OfSpec{Spec: "a.yaml"}}
	if _, err := start(ctx, c, in); err == nil || !strings.Contains(err.Error(), "run 20260101-000000 was begun") {
		t.Errorf("%v", err)
	}
	begins = false
	if _, err := start(ctx, c, in); err == nil || !strings.Contains(err.Error(), "no run is there yet") {
		t.Errorf("%v", err)
	}
	s := connect(t, &fake{}, nil)
	for tool, err := range s.Tools(t.Context(), &sdk.ListToolsParams{}) {
		if err != nil || tool.Name == "start" && !strings.Contains(tool.Description, "may have begun a run") {
			t.Errorf("%v: %v", tool, err)
		}
	}
}
