package spec

import "strings"

// reference is a place of the document that names another job.
type reference struct {
	v   value
	one bool // it must mean one job, not several of a list
}

// lookup is what the id of a job of the document means: itself, or those of its list.
func (x *expander) lookup(id string) []string {
	ids, ok := x.lists[id]
	if !ok {
		return []string{id}
	}
	if x.meant += len(ids); x.meant > maxReferences {
		return []string{id} // tooLarge says so
	}
	return ids
}

// findJobs resolves what a job names, and keeps where it names it.
func (x *expander) findJobs(s *source) {
	note := func(one bool, places ...value) {
		for _, v := range places {
			x.references = append(x.references, reference{v, one})
		}
	}
	note(false, s.own.field("depends_on").items()...)
	inputs := s.own.field("inputs")
	if !inputs.present() {
		inputs = x.def.field("inputs")
	}
	for _, item := range inputs.items() {
		note(false, item.field("from_job"))
	}
	note(false, joined(s.own.field(PatternJoin))...)
	if s.list != nil && s.list.path != "" {
		from := s.list.at.field("from_job")
		note(false, from)
		s.list.from = x.lookup(from.text())
	}
	note(true, s.own.field("continue"), x.base(s))
	s.refs = x.resolved(s, x.lookup)
}

// base is where a job says at whose snapshot it starts, with that job's id for text.
func (x *expander) base(s *source) value {
	v := x.view(s).get("worktree").field("base")
	if id, ok := strings.CutPrefix(v.text(), basePrefix); ok {
		t := *v.t
		t.text, v.t = id, &t
	}
	return v
}

// resolved are the fields of a job that name others and are to be said otherwise.
func (x *expander) resolved(s *source, lookup func(string) []string) map[string]*tree {
	own := s.own
	if s.verifies != nil { // what it has by default may be the work that it verifies
		own = own.withDefaults(x.def, "inputs", "worktree")
	}
	return jobNames(own, lookup)
}

// defaultReferences resolves the jobs that defaults name.
func (x *expander) defaultReferences() {
	if changes := jobNames(x.def, x.lookup); len(changes) > 0 {
		x.def = x.def.with(changes)
	}
}

// jobNames are the fields of v that name jobs, with what the names mean; fields that stay
// as they are are not among them.
func jobNames(v value, lookup func(string) []string) map[string]*tree {
	out := map[string]*tree{}
	if t := v.field("depends_on").t; t != nil && t.kind == kindList {
		if to := t.spread("", lookup); to != t {
			out["depends_on"] = to
		}
	}
	if t := v.field("inputs").t; t != nil && t.kind == kindList {
		if to := t.spread("from_job", lookup); to != t {
			out["inputs"] = to
		}
	}
	if on := v.field("continue"); on.text() != "" {
		if ids := lookup(on.text()); len(ids) == 1 && ids[0] != on.text() {
			out["continue"] = textAt(on.at(), ids[0])
		}
	}
	furnished := v.field("worktree")
	base := furnished.field("base")
	if id, ok := strings.CutPrefix(base.text(), basePrefix); ok {
		if ids := lookup(id); len(ids) == 1 && ids[0] != id {
			out["worktree"] = furnished.with(map[string]*tree{"base": textAt(base.at(), basePrefix+ids[0])}).t
		}
	}
	return out
}

// spread is a list with each item as often as what it names means jobs; key is the field
// of the item that names it, "" = the item itself does.
func (t *tree) spread(key string, lookup func(string) []string) *tree {
	changed := false
	out := *t
	out.items = nil
	for _, item := range t.items {
		name := item
		if key != "" {
			name = value{t: item}.field(key).t
		}
		if name == nil || name.kind != kindText {
			out.items = append(out.items, item)
			continue
		}
		for _, id := range lookup(name.text) {
			to := item
			if id != name.text {
				changed = true
				if to = textAt(name.at, id); key != "" {
					to = value{t: item}.with(map[string]*tree{key: to}).t
				}
			}
			out.items = append(out.items, to)
		}
	}
	if !changed {
		return t
	}
	return &out
}
