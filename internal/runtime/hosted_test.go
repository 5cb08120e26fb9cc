package runtime

import "testing"

func TestWhatToolsReachByTheirNames(t *testing.T) {
	for tool, want := range map[string]Access{
		"Read": AccessRead, "Grep": AccessRead, "WebFetch": AccessRead, "list_dir": AccessRead, "TodoWrite": AccessRead,
		"Edit": AccessEdit, "NotebookEdit": AccessEdit, "apply_patch": AccessEdit, "Write(docs/**)": AccessEdit,
		"Bash": AccessShell, "Bash(git log:*)": AccessShell, "run_in_terminal": AccessShell, "KillShell": AccessShell, "*": AccessShell,
		"Task": "", "mcp__github__issues": "", "Spreadsheet": "",
	} {
		if got := (Agent{Tools: []string{tool}}).Reach(); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}

// A control is what the session says, unless its own list of tools says otherwise.
func TestControlsByTheSessionsWord(t *testing.T) {
	for name, c := range map[string]struct {
		agent                     Agent
		limited, reading, editing bool
	}{
		"nothing said":        {Agent{}, false, false, false},
		"reads":               {Agent{Access: AccessRead}, false, true, false},
		"reads, by tools":     {Agent{Access: AccessRead, Tools: []string{"Read"}}, true, true, false},
		"tools alone":         {Agent{Tools: []string{"Read"}}, true, false, false},
		"no tools":            {Agent{Tools: []string{}, Access: AccessRead}, true, true, false},
		"edits":               {Agent{Access: AccessEdit, Tools: []string{"Read", "Edit"}}, true, false, true},
		"contradicted":        {Agent{Access: AccessRead, Tools: []string{"Bash"}}, true, false, false},
		"contradicted, edits": {Agent{Access: AccessEdit, Tools: []string{"Bash"}}, true, false, false},
		"all tools":           {Agent{Access: AccessEdit, Tools: []string{"*"}}, false, false, false},
		"a shell":             {Agent{Access: AccessShell, Tools: []string{"Bash"}}, true, false, false},
	} {
		p := Profile{Kind: KindInternal, Agents: []Agent{{}, {}}, Models: []Model{{ID: "x"}}}.OfAgent(c.agent)
		if p.Has(ControlToolLimits) != c.limited || p.Has(ControlReadOnly) != c.reading || p.Has(ControlEditsOnly) != c.editing || p.Has(ControlOSSandbox) || len(p.Agents) != 1 {
			t.Errorf("%s: %+v", name, p.Controls)
		}
	}
}
