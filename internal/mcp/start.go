package mcp

import (
	"context"
	"encoding/json"
	"fmt"
)

// StartIn is what start is asked.
type StartIn struct {
	Where
	OfSpec
	Rehearse bool `json:"rehearse,omitempty" jsonschema:"every agent is replaced by a stand-in: no model is called, the verdict is at best rehearsal"`
}

// StartOut is where the run is.
type StartOut struct {
	Said
	RunID  string `json:"runId"`
	RunDir string `json:"runDir"`
	Spec   string `json:"spec" jsonschema:"path of the spec"`
}

func start(ctx context.Context, c call, in StartIn) (out StartOut, err error) {
	path, made, err := in.file(c)
	if err != nil {
		return out, err
	}
	command := "run"
	if in.Rehearse {
		command = "rehearse"
		if len(in.Agents) > 0 || in.Internal {
			return out, fmt.Errorf("a rehearsal has a stand-in for every agent: leave out agents and internal")
		}
	}
	more, agents, err := in.args()
	if err != nil {
		return out, err
	}
	o := c.host.Call(ctx, Command{Args: append([]string{command, "--detach", "--json"}, more...), Of: []string{path}, Cwd: c.cwd, In: agents})
	var begun struct{ RunID, RunDir string }
	if json.Unmarshal([]byte(o.Out), &begun) != nil || begun.RunID == "" {
		return out, refused("start", o, path, made)
	}
	return StartOut{
		Said:  said(o, "the run has begun and goes on by itself", fmt.Sprintf("call wait {run: %q}", begun.RunID)),
		RunID: begun.RunID, RunDir: begun.RunDir, Spec: path,
	}, nil
}
