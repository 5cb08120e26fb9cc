package route

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

// TestEffortIsNeverLowered: every word of a spec against lists that hold some of them,
// and others that cannot be compared.
func TestEffortIsNeverLowered(t *testing.T) {
	for _, c := range []struct {
		levels string
		want   map[string]string // word of the spec -> level; absent = blocked
	}{
		{"low medium high xhigh max", map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}},
		{"minimal low medium high", map[string]string{"minimal": "minimal", "low": "low", "medium": "medium", "high": "high"}},
		{"high max", map[string]string{"minimal": "high", "low": "high", "medium": "high", "high": "high", "xhigh": "max", "max": "max"}},
		{"none thinking ultra", nil},
		{"", nil},
	} {
		for _, word := range depths() {
			p := boxed
			p.Models = []runtime.Model{{ID: "big", Efforts: strings.Fields(c.levels), Default: true}}
			var asked string
			r, block := Choose(input(func(in *Input) {
				in.Profiles, in.Job.Effort = profiles(p), word
				in.Builds = func(_ string, req runtime.Request) error { asked = req.Effort; return nil }
			}))
			want, ok := c.want[word]
			switch {
			case !ok && (block == nil || block.Reason != runtime.BlockedNoRoute || !strings.Contains(block.NextStep, "leave effort out")):
				t.Errorf("%s of %q: %q, %+v", word, c.levels, r.Effort, block)
			case ok && (block != nil || r.Effort != want || asked != want):
				t.Errorf("%s of %q: %q, asked for %q, %+v", word, c.levels, r.Effort, asked, block)
			case ok && (r.EffortWhy == "") != (want == word):
				t.Errorf("%s of %q: %q", word, c.levels, r.EffortWhy)
			}
		}
	}
}

func TestTheMappedEffortIsSaid(t *testing.T) {
	r, _ := Choose(input(func(in *Input) { in.Profiles, in.Job.Effort = profiles(boxed), "medium" }))
	want := "the spec says medium; of what model big offers (low, high), high is the next higher"
	if r.EffortWhy != want || !strings.Contains(strings.Join(r.Candidates[0].Reasons, "; "), "effort high: "+want) {
		t.Errorf("%q, %q", r.EffortWhy, r.Candidates[0].Reasons)
	}
}

// An effort of a model that the list does not know is left to the adapter.
func TestEffortOfAnUnlistedModel(t *testing.T) {
	p := boxed
	p.ModelsPartial = true
	r, block := Choose(input(func(in *Input) {
		in.Profiles, in.Job.Runtime, in.Job.Model, in.Job.Effort = profiles(p), "boxed", "new", "max"
	}))
	if block != nil || r.Effort != "max" || r.EffortWhy != "" {
		t.Errorf("%+v, %+v", r, block)
	}
}
