package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
)

func TestAgentsAreRead(t *testing.T) {
	a, err := ParseAgents([]byte(`{"host": "h", "agents": [
		{"name": "one", "description": "d", "tools": ["Read"], "model": "m", "access": "read", "boundary": "b", "general": true},
		{"name": "two", "tools": null, "model": null, "access": ""},
		{"name": "three", "tools": []}
	]}`))
	if err != nil || a.SchemaVersion != 1 || a.Host != "h" || len(a.Agents) != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	one, two, three := a.Agents[0], a.Agents[1], a.Agents[2]
	if one.Access != runtime.AccessRead || !one.General || one.Boundary != "b" || two.Tools != nil || three.Tools == nil {
		t.Errorf("%+v", a.Agents)
	}
	data, err := a.Encode()
	again, err2 := ParseAgents(data)
	if err != nil || err2 != nil || fmt.Sprint(again) != fmt.Sprint(a) || again.Agents[1].Tools != nil {
		t.Errorf("what is kept is not what was read: %s, %v, %v", data, err, err2)
	}
}

func TestMistakesAboutAgents(t *testing.T) {
	for text, want := range map[string][]string{
		``:                  {"found nothing; allowed is an object"},
		`[]`:                {"found a list; allowed is an object"},
		`{"agents": [}`:     {"is no JSON"},
		`{"agents": []} x`:  {"is no JSON"},
		`{}`:                {"agents: is missing"},
		`{"agents": []}`:    {"agents: 0 agents; allowed are 1 to 200"},
		`{"agents": "x"}`:   {"agents: found a text; allowed is a list"},
		`{"agents": null}`:  {"agents: found null; allowed is a list"},
		`{"agents": ["x"]}`: {"agents[0]: found a text; allowed is an object"},
		`{"schemaVersion": 2, "agents": [{"name": "a"}]}`: {"schemaVersion: found 2; allowed is 1"},
		`{"agent": [{"name": "a"}]}`:                      {`"agent": unknown key; allowed are schemaVersion, host, agents; did you mean "agents"?`, "agents: is missing"},
		`{"agents": [{"name": "a"}, {"nme": "b", "acess": "read"}]}`: {
			`agents[1]."nme": unknown key; allowed are name, description, tools, model, access, boundary, general; did you mean "name"?`,
			`agents[1]."acess": unknown key`, `did you mean "access"?`, "agents[1].name: is missing",
		},
		`{"agents": [{"name": "a", "name": "b"}]}`:                        {"agents[0].name: is there twice"},
		`{"agents": [{"name": "a"}, {"name": "a"}]}`:                      {`agents[1].name: "a" is the name of agents[0] too`},
		`{"agents": [{"name": "a", "tools": "Read"}]}`:                    {`agents[0].tools: found a text; allowed is a list of names, ["*"] for all`},
		`{"agents": [{"name": "a", "tools": ["Read", 3]}]}`:               {`agents[0].tools: found a list; allowed is a list of names`},
		`{"agents": [{"name": "a", "tools": ["Read", " "]}]}`:             {`agents[0].tools[1]: is empty`},
		`{"agents": [{"name": "a", "access": "write"}]}`:                  {`agents[0].access: found "write"; allowed are read, edit, shell`},
		`{"agents": [{"name": "a", "access": "raed"}]}`:                   {`did you mean "read"?`},
		`{"agents": [{"name": "a", "general": "yes"}]}`:                   {"agents[0].general: found a text; allowed are true and false"},
		`{"agents": [{"name": 3}]}`:                                       {"agents[0].name: found 3; allowed is a text"},
		`{"agents": [{"name": " a"}]}`:                                    {"no space around it"},
		`{"agents": [{"name": "a\u202eb"}]}`:                              {"no control characters"},
		"{\"agents\": [{\"name\": \"a\\u001b[2J\"}]}":                     {"no control characters"},
		`{"agents": [{"name": "` + strings.Repeat("a", 201) + `"}]}`:      {"201 bytes; at most 200"},
		`{"agents": [{"name": "` + strings.Repeat("a", 1+64<<10) + `"}]}`: {"bytes of words; at most 65536"},
		`{"agents": []}` + strings.Repeat(" ", 1<<20):                     {"more than 1048576 bytes"},
		"{\"host\": \"\xff\"}":                                            {"not UTF-8"},
	} {
		_, err := ParseAgents([]byte(text))
		var invalid *Invalid
		if !errors.As(err, &invalid) {
			t.Errorf("%.60s: %v", text, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.60s: %v\nwithout %q", text, err, w)
			}
		}
	}
}

func TestAtMostSoManyAgents(t *testing.T) {
	many := Agents{SchemaVersion: 1}
	for i := range MaxAgents + 1 {
		many.Agents = append(many.Agents, Agent{Name: fmt.Sprint(i)})
	}
	data, _ := json.Marshal(many)
	if _, err := ParseAgents(data); err == nil || !strings.Contains(err.Error(), "201 agents") {
		t.Error(err)
	}
}

// As much as a session may say is kept and read again, although it is kept in more words.
func TestTheMostThatMayBeSaidIsKept(t *testing.T) {
	var said strings.Builder
	for i := range MaxAgents {
		fmt.Fprintf(&said, `,{"name":"%d","tools":["a"%s],"boundary":"%s"}`, i, strings.Repeat(`,"b"`, 100), strings.Repeat(`\u0001`, 110))
	}
	a, err := ParseAgents([]byte(`{"agents":[` + said.String()[1:] + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := a.Encode()
	if err != nil || len(data) <= MaxAgentsText {
		t.Fatalf("%d bytes show nothing, %v", len(data), err)
	}
	if again, err := ParseAgents(data); err != nil || len(again.Agents) != MaxAgents {
		t.Errorf("%v", err)
	}
}

func TestProfileOfTheSession(t *testing.T) {
	at := time.Unix(1, 0)
	var nobody *Agents
	p := nobody.Profile(at)
	if p.State != runtime.StateUnavailable || p.Kind != runtime.KindInternal || !strings.Contains(p.NextStep, "--agents FILE") || p.Routable() {
		t.Errorf("%+v", p)
	}
	p = (&Agents{Agents: []Agent{{Name: "a", Tools: []string{"*"}, Boundary: "b"}}}).Profile(at)
	if p.State != runtime.StateConstrained || len(p.Agents) != 1 || p.Agents[0].Boundary != "b" || !p.ProbedAt.Equal(at) || p.Has(runtime.ControlOSSandbox) || p.Has(runtime.ControlModel) {
		t.Errorf("%+v", p)
	}
	if !slices.ContainsFunc(p.Limits, func(l string) bool { return strings.Contains(l, "timeout is for the account only") }) {
		t.Errorf("%q", p.Limits)
	}
}

// Whatever is said in words has a place under which it is looked through.
func TestAllWordsHaveTheirPlace(t *testing.T) {
	a := Agents{Host: "w1", Agents: []Agent{{Name: "w2", Description: "w3", Tools: []string{"w4", "w5"}, Model: "w6", Boundary: "w7"}}}
	places, texts := a.Texts()
	all := strings.Join(texts, " ")
	for i := 1; i <= 7; i++ {
		if !strings.Contains(all, fmt.Sprintf("w%d", i)) {
			t.Errorf("w%d is in none of %q", i, texts)
		}
	}
	if len(places) != len(texts) || places[2] != "agents[0].description" {
		t.Errorf("%q", places)
	}
}
