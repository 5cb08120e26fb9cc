package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"orchestrate/internal/engine"
	"orchestrate/internal/figure"
	"orchestrate/internal/untrusted"
)

// The jobs of a pattern are shown as what they are: a list may have a thousand, and what
// can be said of all is said once. `plan --json` has each.

// family are the jobs that a pattern was expanded to.
type family struct {
	of   string
	jobs []engine.JobPreview
}

// mostKinds bounds how many members of a family are shown whole: one of each kind.
const mostKinds = 8

// families puts the jobs of each pattern together, where the first of them stands.
func families(jobs []engine.JobPreview) (all []*family) {
	by := map[string]*family{}
	for _, j := range jobs {
		of := familyOf(j)
		if f := by[of]; of != "" && f != nil {
			f.jobs = append(f.jobs, j)
			continue
		}
		f := &family{of: of, jobs: []engine.JobPreview{j}}
		all, by[of] = append(all, f), f
	}
	return all
}

// familyOf is the job of the spec that one comes from, "" = it is that job.
func familyOf(j engine.JobPreview) string {
	switch {
	case j.Pattern == nil:
		return ""
	case j.Pattern.List != "":
		return j.Pattern.List
	case j.Pattern.Kind == "join":
		return ""
	}
	return j.Pattern.Of
}

// show tells of a family: what its pattern asks, one member of each kind, and how many are
// like it.
func (f *family) show(w io.Writer, absent []string) {
	if f.of == "" {
		showJob(w, f.jobs[0], absent)
		return
	}
	fmt.Fprintf(w, "\n%s  (%s)\n", f.of, strings.Join(f.kinds(), ", "))
	v := view{w}
	for _, line := range f.asks() {
		v.line("pattern", line)
	}
	kinds := f.alike()
	for i, kind := range kinds {
		if i == mostKinds {
			v.line("besides", fmt.Sprintf("%s of %d more kinds: see plan --json", figure.Count(f.after(kinds[i:]), "job"), len(kinds)-i))
			break
		}
		showJob(w, kind[0], absent)
		if n := len(kind) - 1; n > 0 {
			v.line("alike", fmt.Sprintf("%s: but for what each is for", idsOf(kind[1:])))
		}
	}
}

// kinds names the patterns of a family, and what its members are.
func (f *family) kinds() (all []string) {
	counts, order := map[string]int{}, []string(nil)
	for _, j := range f.jobs {
		kind := j.Pattern.Kind
		if j.Pattern.Gathers {
			continue
		}
		if counts[kind]++; counts[kind] == 1 {
			order = append(order, kind)
		}
	}
	for _, kind := range order {
		all = append(all, fmt.Sprintf("%s, %s", kind, figure.Count(counts[kind], "job")))
	}
	return all
}

// asks says once what the patterns of a family ask.
func (f *family) asks() (all []string) {
	seen := map[string]bool{}
	for _, j := range f.jobs {
		if says := j.Pattern.Says; says != "" && !seen[says] && len(all) < mostKinds {
			seen[says] = true
			all = append(all, says)
		}
	}
	return append(all, "members: "+idsOf(f.jobs))
}

// alike puts the members together that differ in no more than what they are for.
func (f *family) alike() (kinds [][]engine.JobPreview) {
	at := map[string]int{}
	for _, j := range f.jobs {
		key := likeness(j)
		n, ok := at[key]
		if !ok {
			n, kinds = len(kinds), append(kinds, nil)
			at[key] = n
		}
		kinds[n] = append(kinds[n], j)
	}
	return kinds
}

// likeness is the same for two members only if the same is to be said of both.
func likeness(j engine.JobPreview) string {
	route, err := json.Marshal([]any{j.Route, j.Blocked, j.SideEffects, j.Task, j.Pattern.Kind, j.Pattern.Gathers, j.Continues != "", j.Pattern.Needs != ""})
	if err != nil { // a route is plain data
		return j.ID
	}
	return string(route)
}

func (f *family) after(kinds [][]engine.JobPreview) (n int) {
	for _, k := range kinds {
		n += len(k)
	}
	return n
}

// mostIDs bounds lists of ids: the first of them and the last are named.
const mostIDs = 5

func idsOf(jobs []engine.JobPreview) string {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	return fewOf(ids)
}

// fewOf names some of many ids.
func fewOf(ids []string) string {
	if n := len(ids); n > mostIDs {
		ids = append(ids[:mostIDs-2:mostIDs-2], "…", fmt.Sprintf("%s (%d in all)", ids[n-1], n))
	}
	return strings.Join(ids, ", ")
}

// mostPrompt bounds the lines of a prompt that a plan shows.
const mostPrompt = 200

// shownPrompt is a prompt, but for what is beyond the bound.
func shownPrompt(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - mostPrompt; more > 0 {
		lines = append(lines[:mostPrompt], fmt.Sprintf("[… %d lines more: see plan --json]", more))
	}
	return strings.Join(lines, "\n")
}

// inPattern says what a job is in its pattern.
func (v view) inPattern(j engine.JobPreview) {
	if p := j.Pattern; p != nil {
		text := p.String()
		if p.Item != "" {
			text += ": " + untrusted.From(p.Item).Line(0)
		}
		if p.Kind == "join" {
			text += ": " + p.Says
		}
		v.line("in pattern", text)
		v.line("needed", p.Needs)
	}
	if j.Continues != "" {
		v.line("session", "goes on with the session of "+j.Continues)
	}
}
