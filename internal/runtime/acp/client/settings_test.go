//go:build linux

package client

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// An agent with options, and one with the older lists.
const (
	withOptions = `"session":{"sessionId":"s","configOptions":[
		{"id":"mode","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"Ask"},{"value":"plan","name":"Plan"}]},
		{"id":"m","name":"Model","category":"model","type":"select","currentValue":"big","options":[
			{"group":"g","name":"G","options":[{"value":"big","name":"Big"},{"value":"small","name":"Small"}]},{"value":"tiny","name":"Tiny"}]},
		{"id":"depth","category":"thought_level","type":"select","currentValue":"low","options":[{"value":"low","name":"Low"},{"value":"high","name":"High"}]},
		{"id":"flag","type":"boolean","currentValue":true},{"id":"new","type":"slider","currentValue":{"at":3},"options":"x"}]}`
	withLists = `"session":{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"plan","name":"Plan","description":null}]},
		"models":{"currentModelId":"big","availableModels":[{"modelId":"big","name":"Big"},{"modelId":"small","name":"Small"}]}}`
)

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		turn   acp.Turn
		mode   string
		model  string // observed
	}{
		"as it comes":         {withOptions, acp.Turn{}, "ask", "big"},
		"as it is already":    {withOptions, acp.Turn{Mode: "ask", Model: "big", Effort: "low"}, "ask", "big"},
		"other options":       {withOptions, acp.Turn{Mode: "plan", Model: "tiny", Effort: "high"}, "plan", "tiny"},
		"out of a group":      {withOptions, acp.Turn{Model: "small"}, "ask", "small"},
		"lists as they come":  {withLists, acp.Turn{}, "ask", "big"},
		"others of the lists": {withLists, acp.Turn{Mode: "plan", Model: "small"}, "plan", ""}, // no agent confirms this
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := have(t, `{`+c.script+`,"turn":[{"text":"ok"}]}`, c.turn)
			r.completed(t, "ok")
			if mode := r.of(acp.LineSession)[0].Mode; mode != c.mode || r.Outcome.ObservedModel != c.model {
				t.Errorf("mode %q, observed model %q; want %q, %q", mode, r.Outcome.ObservedModel, c.mode, c.model)
			}
		})
	}
}

func TestOnlyWhatIsListedIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		turn   acp.Turn
		why    runtime.Reason
		says   string
	}{
		"no such model":   {withOptions, acp.Turn{Model: "smal"}, runtime.ReasonUnknownModel, `model "smal" is not in the agent's live list; the nearest is "small"`},
		"far from all":    {withOptions, acp.Turn{Model: "enormous-9"}, runtime.ReasonUnknownModel, "it has big, small, tiny"},
		"without a maker": {strings.ReplaceAll(withOptions, `"tiny"`, `"lab/tiny"`), acp.Turn{Model: "tiny"}, runtime.ReasonUnknownModel, `the nearest is "lab/tiny"`},
		"no such mode":    {withOptions, acp.Turn{Mode: "plann"}, runtime.ReasonUnknownFlag, `the nearest is "plan"`},
		"no such effort":  {withOptions, acp.Turn{Effort: "hihg"}, runtime.ReasonUnknownFlag, `the nearest is "high"`},
		"no such in list": {withLists, acp.Turn{Model: "Big"}, runtime.ReasonUnknownModel, `the nearest is "big"`},
		"no efforts":      {withLists, acp.Turn{Effort: "low"}, runtime.ReasonUnknownFlag, "no choice of that"},
		"nothing at all":  {`"stayOnEOF":false`, acp.Turn{Mode: "ask"}, runtime.ReasonUnknownFlag, "no choice of that"},
		"it does not do":  {withOptions + `,"stubborn":true`, acp.Turn{Model: "tiny"}, runtime.ReasonUnknownFlag, `stays at "big"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have(t, `{`+c.script+`,"turn":[{"text":"ok"}]}`, c.turn).failed(t, c.why, c.says)
		})
	}
}

// An agent that goes over to another model or mode in its turn is caught.
func TestChangesOfTheAgentsOwnAreTold(t *testing.T) {
	r := have(t, `{`+withOptions+`,"turn":[{"text":"ok"},
		{"update":{"sessionUpdate":"config_option_update","configOptions":[{"id":"m","category":"model","type":"select","currentValue":"tiny","options":[]},
			{"id":"mode","category":"mode","type":"select","currentValue":"plan","options":[]}]}}]}`, acp.Turn{Model: "big"})
	if r.Outcome.ObservedModel != "tiny" || len(r.of(acp.LineWarning)) != 1 {
		t.Errorf("observed %q, lines %s", r.Outcome.ObservedModel, r.stdout)
	}
	r = have(t, `{`+withLists+`,"turn":[{"text":"ok"},{"update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}},
		{"update":{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}}]}`, acp.Turn{})
	if w := r.of(acp.LineWarning); len(w) != 1 || !strings.Contains(w[0].Text, `"yolo" by itself`) {
		t.Errorf("warnings %+v", w)
	}
}

func TestProbe(t *testing.T) {
	r := have(t, `{"initialize":{"protocolVersion":1,"agentInfo":{"name":"a","title":"A","version":"9.8"},
		"authMethods":[{"id":"key","name":"Key","description":null,"_meta":{"x":1}}],"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}},`+withOptions+`}`,
		acp.Turn{Probe: true})
	got, err := acp.ReadLive([]byte("noise\n" + r.stdout))
	want := acp.Live{
		ProtocolVersion: 1, AgentName: "a", AgentVersion: "9.8", AuthMethods: []acp.AuthMethod{{ID: "key", Name: "Key"}},
		LoadSession: true, ResumeSession: true, CurrentMode: "ask", CurrentModel: "big",
		Modes:  []acp.Value{{ID: "ask", Name: "Ask"}, {ID: "plan", Name: "Plan"}},
		Models: []runtime.Model{{ID: "big", Default: true, Efforts: []string{"low", "high"}}, {ID: "small"}, {ID: "tiny"}},
	}
	options := got.Options
	got.Options = nil
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	if len(options) != 5 || options[2].ID != "depth" || options[2].Current != "low" || len(options[2].Values) != 2 || options[3].Current != "" {
		t.Errorf("options %+v", options)
	}
	if r.status != 0 || len(r.lines) != 1 {
		t.Errorf("status %d: %s", r.status, r.stdout)
	}
}

func TestProbesOfAgentsThatGiveNoSession(t *testing.T) {
	r := have(t, `{"sessionError":{"code":-32000,"message":"Authentication required","data":{"authMethods":[]}}}`, acp.Turn{Probe: true})
	l, err := acp.ReadLive([]byte(r.stdout))
	if err != nil || l.AgentVersion != "1.2.3" || !strings.Contains(l.AuthRequired, "Authentication required") || l.Error != "" {
		t.Errorf("%v, %+v", err, l)
	}
	r = have(t, `{"sessionError":{"code":-32603,"message":"out of order"}}`, acp.Turn{Probe: true})
	if l, err = acp.ReadLive([]byte(r.stdout)); err != nil || l.AuthRequired != "" || !strings.Contains(l.Error, "out of order") {
		t.Errorf("%v, %+v", err, l)
	}
	r = have(t, `{"begin":[{"raw":"usage: agent [options]"},{"exit":2}]}`, acp.Turn{Probe: true})
	if l, err = acp.ReadLive([]byte(r.stdout)); err == nil || !strings.Contains(err.Error(), "exit status 2) before it answered initialize") {
		t.Errorf("%v, %+v", err, l)
	}
	if _, err = acp.ReadLive(nil); err == nil {
		t.Error("no answer is no error")
	}
}

// A probe is started in a scratch folder that its Turn does not know.
func TestATurnWithoutAFolderIsInTheClients(t *testing.T) {
	dir := t.TempDir()
	l := exec.Command(self(t), acp.Command)
	l.Dir, l.Stdin = dir, strings.NewReader(marshalled(t, acp.Turn{Agent: agentFor(t, `{"turn":[{"text":"{{cwd}}"}]}`)}))
	out, err := l.Output()
	if err != nil {
		t.Fatal(err)
	}
	read(t, acp.Turn{}, 0, string(out), "").completed(t, dir)
}
