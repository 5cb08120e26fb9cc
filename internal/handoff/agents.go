package handoff

import "orchestrate/internal/runtime"

// Agents is what a hosting session says of its own agents: the file of `--agents`, kept
// as agents.json. What it does not say is unknown, and proves nothing.
type Agents struct {
	SchemaVersion int     `json:"schemaVersion"` // always 1, and may be left out
	Host          string  `json:"host"`          // name of the session's program, "" = not said
	Agents        []Agent `json:"agents"`        // at least one
}

// Agent is one agent of the session.
type Agent struct {
	Name        string         `json:"name"`        // by which the session starts it, and a spec names it
	Description string         `json:"description"` // what it is good for: a job finds it by these words
	Tools       []string       `json:"tools"`       // null = not said; ["*"] = all of the session's
	Model       string         `json:"model"`       // "" = not said
	Access      runtime.Access `json:"access"`      // the most that its tools can do: read | edit | shell; "" = not said
	Boundary    string         `json:"boundary"`    // what holds it, in the session's words
	General     bool           `json:"general"`     // takes any task
}
