package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
)

// ApproveIn is what approve is asked.
type ApproveIn struct {
	Where
	OfRun
}

// ApproveOut is what the user said.
type ApproveOut struct {
	Said
	Approved []string `json:"approved" jsonschema:"what the user approved, exactly as they were shown it"`
	Refused  []string `json:"refused,omitempty" jsonschema:"what they did not"`
}

// asked are the questions of one call and what the user made of them.
type asked struct {
	mu               sync.Mutex
	session          *sdk.ServerSession
	yes, no, unasked []string // what was shown
	why              error    // nobody could be asked
}

func approve(ctx context.Context, c call, in ApproveIn) (out ApproveOut, err error) {
	run, scopes, err := c.awaitApproval(ctx, c.named(in.Run))
	if err != nil {
		return out, err
	}
	if !canAsk(c.req.Session) {
		return out, askUser(run, "this client cannot ask its user anything (it did not declare elicitation)", scopes)
	}
	q := &asked{session: c.req.Session}
	o := c.host.Approve(ctx, c.cwd, run, q.put)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.why != nil:
		return out, askUser(run, "the client could not ask its user: "+q.why.Error(), q.unasked)
	case len(q.yes) == 0 && len(q.no) > 0:
		return out, askUser(run, "the user was asked and did not approve; do not ask again unless they want that", q.no)
	case len(q.yes) == 0:
		return out, failed("approve", o, fmt.Sprintf("call explain for the job; nobody was asked, and nothing was approved in run %s", run))
	}
	return ApproveOut{Said: said(o, "the run goes on with exactly what the user approved: "+ofRun(o.Exit, ""), then(o.Exit, run)...), Approved: bounded(q.yes), Refused: bounded(q.no)}, nil
}

// awaitApproval are the jobs of a run that only an approval is missing for, in the words
// of the record, and which run that is; an error where there is none to ask for.
func (c call) awaitApproval(ctx context.Context, named string) (run string, scopes []string, err error) {
	o := c.command(ctx, []string{"wait", "--json", "--timeout", "0s"}, named)
	var st ledger.State
	if json.Unmarshal([]byte(o.Out), &st) != nil || st.RunID == "" {
		return "", nil, failed("approve", o, "")
	}
	run = c.meant(named, st.RunID)
	for _, j := range st.Jobs {
		if j.Status == ledger.Blocked && j.Reason == runtime.BlockedApproval {
			scopes = append(scopes, j.ID+": "+j.Evidence.Line(0))
		}
	}
	switch {
	case o.Exit == exitInterrupted:
		return run, nil, fmt.Errorf("run %s was interrupted or cut off: whether it goes on is for the user to say\nnext: they type `orchestrate resume %s` in a terminal, and are asked there", run, shellword.Quote(run))
	case o.Exit == exitRunning:
		return run, nil, fmt.Errorf("run %s still goes on, and what is blocked can only be approved when it has ended\nnext: call wait {run: %q}", run, run)
	case len(scopes) == 0:
		return run, nil, fmt.Errorf("no job of run %s is blocked for an approval\nnext: call status {run: %q}", run, run)
	}
	return run, scopes, nil
}

// canAsk reports whether the client said that it can put a question to its user.
func canAsk(s *sdk.ServerSession) bool {
	said := s.InitializeParams()
	if said == nil || said.Capabilities == nil || said.Capabilities.Elicitation == nil {
		return false
	}
	e := said.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil
}

// consent is the form that the user fills in. It has no default: a form that is sent off
// as it came approves nothing.
var consent = &jsonschema.Schema{
	Type: "object", Required: []string{"approve"},
	Properties: map[string]*jsonschema.Schema{
		"approve": {Type: "boolean", Title: "Approve exactly this, for this run", Description: "true only if all that is shown above may happen"},
	},
}

// put shows the user one job. Only a form that was accepted with a yes in it is one.
func (q *asked) put(ctx context.Context, shown string) Answer {
	res, err := q.session.Elicit(ctx, &sdk.ElicitParams{Message: strings.TrimSpace(shown) + "\n\nApprove exactly this, for this run?", RequestedSchema: consent})
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.why, q.unasked = err, append(q.unasked, shown)
		return Answer{}
	}
	if yes, _ := res.Content["approve"].(bool); yes && res.Action == "accept" {
		q.yes = append(q.yes, shown)
		return Answer{Asked: true, Yes: true}
	}
	q.no = append(q.no, shown)
	return Answer{Asked: true}
}

// askUser is the error that leaves an approval to the user.
func askUser(run, why string, scopes []string) error {
	run = shellword.Quote(run)
	text, _ := cut(strings.Join(scopes, "\n"), mostErrors, "orchestrate resume "+run+" in a terminal")
	return fmt.Errorf("nothing was approved: %s\nask the user. They would be approving:\n%s\nnext: show them that; if they want it, they type this in a terminal of their own, where they are shown all of it and asked: orchestrate resume %s\nDo not type it for them, and do not approve in their place", why, text, run)
}

// bounded cuts what was shown, each by itself.
func bounded(all []string) (short []string) {
	for _, s := range all {
		text, _ := cut(s, mostApproved, "the run's approvals.json")
		short = append(short, text)
	}
	short, _ = few(short, mostList)
	return short
}
