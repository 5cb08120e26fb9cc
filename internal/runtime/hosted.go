package runtime

import (
	"slices"
	"strings"
	"unicode"
)

// Internal is the name in a spec of the hosting session, whose own agents do the work.
const Internal = "internal"

// AllTools in an agent's list of tools stands for all that its session has.
const AllTools = "*"

// OfAgent is the profile of a hosting session as one of its agents would do the work:
// the controls are those that the session's word on this agent shows. None of them is a
// kernel's.
func (p Profile) OfAgent(a Agent) Profile {
	p.Agents, p.DefaultModel = []Agent{a}, a.Model
	p.Models = nil
	p.Controls = []Control{
		{Name: ControlAgent, Verified: true, Evidence: "listed by the hosting session"},
		a.toolLimits(),
		a.bounded(ControlReadOnly, AccessRead),
		a.bounded(ControlEditsOnly, AccessEdit),
	}
	return p
}

// Limited reports whether the session said which tools the agent has, and not just all.
func (a Agent) Limited() bool { return a.Tools != nil && !slices.Contains(a.Tools, AllTools) }

func (a Agent) toolLimits() Control {
	c := Control{Name: ControlToolLimits, Verified: a.Limited()}
	switch {
	case a.Tools == nil:
		c.Evidence = "the hosting session does not say which tools it has"
	case !c.Verified:
		c.Evidence = "it has all tools of the hosting session"
	case len(a.Tools) == 0:
		c.Evidence = "listed by the hosting session: no tools"
	default:
		c.Evidence = "listed by the hosting session: " + strings.Join(a.Tools, ", ")
	}
	return c
}

// bounded is a mode that bounds what the agent writes: the session says so, and no tool
// that it lists says otherwise.
func (a Agent) bounded(name ControlName, access Access) Control {
	switch {
	case a.Access == "":
		return Control{Name: name, Evidence: "the hosting session does not say what its tools can do"}
	case a.Access != access:
		return Control{Name: name, Evidence: "the hosting session says access " + string(a.Access)}
	case a.Reach() != access:
		return Control{Name: name, Evidence: "the hosting session says access " + string(a.Access) + ", and its tools include " + a.beyond(access)}
	}
	return Control{Name: name, Verified: true, Evidence: "said by the hosting session: access " + string(access)}
}

// Reach is the most that the agent can do, as far as anything said of it shows: "" = nothing does.
func (a Agent) Reach() Access {
	most := a.Access
	for _, tool := range a.Tools {
		if of := accessOf(tool); above(of, most) {
			most = of
		}
	}
	return most
}

// beyond is a tool that can do more than an access allows.
func (a Agent) beyond(access Access) string {
	i := slices.IndexFunc(a.Tools, func(tool string) bool { return above(accessOf(tool), access) })
	return a.Tools[i]
}

func above(a, b Access) bool {
	order := []Access{"", AccessRead, AccessEdit, AccessShell}
	return slices.Index(order, a) > slices.Index(order, b)
}

// accessOf is what a tool's name says that it can do; "" where it says nothing.
func accessOf(tool string) Access {
	if tool == AllTools {
		return AccessShell
	}
	is := func(words ...string) bool {
		return slices.ContainsFunc(nameWords(tool), func(w string) bool { return slices.Contains(words, w) })
	}
	switch {
	case is("todo", "todos"): // a list of its own, no files
		return AccessRead
	case is("bash", "shell", "sh", "terminal", "exec", "execute", "command", "powershell"):
		return AccessShell
	case is("edit", "write", "patch", "create", "delete", "replace"):
		return AccessEdit
	case is("read", "grep", "glob", "search", "fetch", "list", "ls", "view"):
		return AccessRead
	}
	return ""
}

// nameWords are the words of a name such as NotebookEdit or apply_patch; what stands in
// brackets after it only narrows it.
func nameWords(name string) []string {
	name, _, _ = strings.Cut(name, "(")
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower || !unicode.IsLetter(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		if unicode.IsLetter(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.Fields(b.String())
}
