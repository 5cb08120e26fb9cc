package mcp

import (
	"context"
	"encoding/json"

	"orchestrate/internal/runtime"
)

// DoctorIn is what doctor is asked.
type DoctorIn struct {
	Where
	Fully
	Runtimes []string `json:"runtimes,omitempty" jsonschema:"ask only these; left out: all that are known"`
}

// DoctorOut is what this machine has.
type DoctorOut struct {
	Said
	Runtimes  []RuntimeFound `json:"runtimes"`
	Published map[string]any `json:"published,omitempty" jsonschema:"what doctor --json prints; only when asked for and not too long"`
}

// RuntimeFound is what was learned of one runtime.
type RuntimeFound struct {
	Runtime      string   `json:"runtime"`
	Kind         string   `json:"kind"`
	State        string   `json:"state" jsonschema:"available, constrained (works, within limits), unverified or unavailable"`
	Version      string   `json:"version,omitempty"`
	Reason       string   `json:"reason,omitempty" jsonschema:"why it is not available"`
	NextStep     string   `json:"nextStep,omitempty"`
	Limits       []string `json:"limits,omitempty"`
	Capability   string   `json:"capability,omitempty" jsonschema:"C1 to C3"`
	DefaultModel string   `json:"defaultModel,omitempty"`
}

func doctor(ctx context.Context, c call, in DoctorIn) (out DoctorOut, err error) {
	o := c.command(ctx, []string{"doctor", "--json"}, in.Runtimes...)
	var found struct{ Profiles []runtime.Profile }
	if json.Unmarshal([]byte(o.Out), &found) != nil || len(found.Profiles) == 0 {
		return out, failed("doctor", o, "")
	}
	out = DoctorOut{Said: said(o, "at least one runtime can take jobs", "write a spec, call plan with it"), Published: in.published(o.Out)}
	if o.Exit == exitFailed {
		out.Said = said(o, "no coding agent can take jobs here, or none of those named", "tell the user what nextStep says of the runtimes that they want")
	}
	out.add(in.missing(out.Published, "name runtimes, or see orchestrate doctor --json in a terminal"))
	for _, p := range found.Profiles {
		f := RuntimeFound{
			Runtime: p.Runtime, Kind: string(p.Kind), State: string(p.State), Version: p.Version, Reason: short(p.Reason), NextStep: short(p.NextStep),
			Capability: p.Capability, DefaultModel: p.DefaultModel,
		}
		for _, l := range p.Limits {
			f.Limits = append(f.Limits, short(l))
		}
		out.Runtimes = append(out.Runtimes, f)
	}
	out.Runtimes, _ = few(out.Runtimes, mostList)
	return out, nil
}
