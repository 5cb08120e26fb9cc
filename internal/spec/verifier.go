package spec

import "slices"

// findVerifier finds who verifies the work of a repair. Without one that can, the job is
// taken as a plain one.
func (x *expander) findVerifier(s *source) {
	if s.kind != PatternRepair {
		return
	}
	v := s.own.field(PatternRepair).field("verifier")
	c := x.byID[v.text()]
	if c == nil {
		x.references = append(x.references, reference{v, true})
	}
	if c == nil || !x.canBeRepaired(s) || !x.canVerify(c, s, v) {
		s.kind = ""
		return
	}
	s.verifier, c.verifies = c, s
}

// canBeRepaired checks that the work is of a kind that a session can go on with.
func (x *expander) canBeRepaired(s *source) bool {
	view, at := x.view(s), s.own.field(PatternRepair)
	switch {
	case view.program():
		x.failf(at, "pattern", "repair goes on with the session of an agent, and %s runs a plain program; remove repair", quote(s.id))
	case slices.Contains(judging[:], view.get("task").text()):
		x.failf(at, "pattern", "%s judges (task %s), and a judge begins a fresh session: its work cannot be repaired; give it another task, or remove repair", quote(s.id), view.get("task").text())
	default:
		return true
	}
	return false
}

// canVerify checks that job c may verify the work of s.
func (x *expander) canVerify(c, s *source, v value) bool {
	name := quote(c.id)
	switch {
	case c == s:
		x.failf(v, "pattern", "%s cannot verify itself; name another job", name)
	case c.verifies != nil:
		x.failf(v, "pattern", "%s is the verifier of %s already; name another one", name, quote(c.verifies.id))
	case c.has() != "":
		x.failf(v, "pattern", "the verifier %s has %s of its own; allowed: a plain job", name, c.has())
	case x.view(c).program():
		x.failf(v, "pattern", "the verifier %s runs a plain program; allowed: an agent (a program that checks the work goes under checks of %s)", name, quote(s.id))
	case !x.dependsOn(c, s.id):
		x.failf(v, "pattern", "the verifier %s does not depend on %s, so it sees nothing of it; say depends_on: [%s] there", name, quote(s.id), s.id)
	default:
		return true
	}
	return false
}

// has names the first pattern that a job has, or continue.
func (s *source) has() string {
	for _, key := range append(kinds[:], "continue") {
		if s.own.field(key).present() {
			return key
		}
	}
	return ""
}

// dependsOn reports whether a job names another one as one that it comes after.
func (x *expander) dependsOn(s *source, id string) bool {
	own := s.own.withDefaults(x.def, "inputs", "worktree")
	found := false
	look := func(ref string) []string {
		found = found || ref == id
		return []string{ref}
	}
	jobNames(own, look)
	return found
}

// verifierRules checks that who judges only observes.
func (r *reader) verifierRules(v jobView) {
	j := v.job
	if j.Verdict == nil || !j.Writes() || j.Effect == "" {
		return
	}
	what := "a verifier"
	if j.Part != nil && j.Part.Kind == PatternVotes {
		what = "a job with votes"
	}
	r.failf(v.get("effect"), "effect", "%s only judges, so it changes nothing; say effect: observe, and a task such as review", what)
}
