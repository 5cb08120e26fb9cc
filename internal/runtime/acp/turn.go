package acp

import (
	"encoding/json"
	"time"

	"orchestrate/internal/runtime"
)

// Command is the hidden command of this program that is the client.
const Command = "acp-turn"

// Argv starts the client; self is the absolute path of this program. The Turn goes
// to its standard input. SIGTERM stops it politely, a second one at once.
func Argv(self string) []string { return []string{self, Command} }

// Argv starts the client with this turn; its standard input is the prompt. So what a
// person sees of the command says what will be done, and can be done again.
func (t Turn) Argv(self string) ([]string, error) {
	t.Prompt = ""
	turn, err := json.Marshal(t)
	return append(Argv(self), string(turn)), err
}

// DefaultGrace is what a turn that names none gives the agent, three times over:
// to answer a cancel, to leave when its input ends, and to leave when told to.
const DefaultGrace = 3 * time.Second

// Turn is what the client is to do.
type Turn struct {
	Agent    []string       `json:"agent"`             // the agent's command
	Dir      string         `json:"dir,omitempty"`     // absolute: where it works; "" = where the client was started
	ReadDirs []string       `json:"readDirs,omitzero"` // absolute folders outside of Dir that may be read
	Prompt   string         `json:"prompt,omitempty"`
	Access   runtime.Access `json:"access,omitempty"` // what permission requests are answered by; "" = read
	// AllowedTools and DisallowedTools narrow that down further. The protocol has no
	// names of tools, only kinds: read, search, edit, delete, move, execute, fetch.
	// AllowedTools nil = all that Access permits; fetch is permitted by name only.
	AllowedTools    []string `json:"allowedTools,omitzero"`
	DisallowedTools []string `json:"disallowedTools,omitzero"`
	// Model, Mode and Effort must be in the agent's live list; "" = as it comes.
	Model  string        `json:"model,omitempty"`
	Mode   string        `json:"mode,omitempty"`
	Effort string        `json:"effort,omitempty"`
	Resume string        `json:"resume,omitempty"` // id of the session to go on with, "" = a new one
	Probe  bool          `json:"probe,omitempty"`  // only ask for a session and say what it offers
	Grace  time.Duration `json:"grace,omitempty"`  // nanoseconds; 0 = DefaultGrace
}
