package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrate/internal/ledger"
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
	before := c.newest()
	o := c.host.Call(ctx, Command{Args: append([]string{command, "--detach", "--json"}, more...), Of: []string{path}, Cwd: c.cwd, In: agents})
	if ctx.Err() != nil {
		return out, c.startedAllTheSame(before)
	}
	var begun struct{ RunID, RunDir string }
	if json.Unmarshal([]byte(o.Out), &begun) != nil || begun.RunID == "" {
		return out, refused("start", o, path, made)
	}
	return StartOut{
		Said:  said(o, "the run has begun and goes on by itself", fmt.Sprintf("call wait {run: %q}", c.named(begun.RunID))),
		RunID: begun.RunID, RunDir: begun.RunDir, Spec: path,
	}, nil
}

// newest is the directory of the workspace's newest run, "" = there is none.
func (c call) newest() string {
	dirs, err := ledger.RunDirs(c.root())
	if err != nil || len(dirs) == 0 {
		return ""
	}
	return dirs[len(dirs)-1]
}

// startedAllTheSame is what a cancelled start ends with: its engine may be there already,
// and who starts once more pays twice.
func (c call) startedAllTheSame(before string) error {
	if dir := c.newest(); dir != before {
		return fmt.Errorf("%w: run %s was begun\nnext: call status {run: %q} before you start anything again", errAway, idOf(dir), c.named(idOf(dir)))
	}
	return fmt.Errorf("%w: no run is there yet, but one may come\nnext: look at the newest runs (resources/list) before you start anything again", errAway)
}
