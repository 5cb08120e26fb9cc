package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State says how far a runtime has been proven for this run.
type State string

// The states of a profile.
const (
	StateAvailable   State = "available"
	StateConstrained State = "constrained" // works, with the limits named in Limits
	StateUnverified  State = "unverified"  // there, not proven; never routed
	StateUnavailable State = "unavailable"
)

// Kind says what sort of thing a runtime is.
type Kind string

// The kinds of runtime.
const (
	KindCLI     Kind = "cli"
	KindExec    Kind = "exec"
	KindStandin Kind = "standin"
	// KindInternal is the hosting session itself: its own subagents do the work, and nothing
	// of it is a process of ours.
	KindInternal Kind = "internal"
)

// Control is one restriction that can be enforced, with what proves it.
type Control struct {
	Name     ControlName `json:"name"`
	Verified bool        `json:"verified"`
	Evidence string      `json:"evidence"` // the help line or self-test that shows it
}

// ControlName names a control.
type ControlName string

// Controls that the gate asks for.
const (
	ControlReadOnly   ControlName = "read-only"      // nothing unattended can write or run a shell
	ControlEditsOnly  ControlName = "edits-only"     // edits inside the cwd, no shell
	ControlArtifacts  ControlName = "artifacts-only" // a reader that may leave files in its artifacts folder
	ControlOSSandbox  ControlName = "os-sandbox"     // kernel-enforced write boundary, self-tested in this run
	ControlToolLimits ControlName = "tool-limits"    // tools outside the grant are removed from the list
	ControlModel      ControlName = "model"          // a model can be asked for
	ControlEffort     ControlName = "effort"         // a reasoning depth can be asked for
	ControlAgent      ControlName = "agent"          // a named agent can be asked for
	ControlAnswerForm ControlName = "answer-schema"  // the final answer can be held to a JSON Schema
	ControlNoProject  ControlName = "no-project"     // the project's own hooks and settings are kept out
)

// Model is one entry of a runtime's live model list.
type Model struct {
	ID       string   `json:"id"`       // as the runtime wants it on its command line
	Resolved string   `json:"resolved"` // what the alias stands for today; "" if the runtime does not say
	Efforts  []string `json:"efforts"`  // reasoning depths exposed for this model
	Default  bool     `json:"default"`
}

// Agent is one entry of a runtime's live agent list.
type Agent struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Model       string `json:"model"`
	// What follows is known only of a hosting session's agents, as the session said it.
	Tools    []string `json:"tools,omitempty"`    // nil = not said; "*" = all that the session has
	Access   Access   `json:"access,omitempty"`   // the most that its tools can do; "" = not said
	Boundary string   `json:"boundary,omitempty"` // what holds it, in the session's words
	General  bool     `json:"general,omitempty"`  // takes any task
}

// Executable identifies the file that was probed.
type Executable struct {
	Path     string `json:"path"`     // absolute, as found
	Resolved string `json:"resolved"` // after symbolic links
	SHA256   string `json:"sha256"`   // of Resolved
}

// Evidence is one question that was put to the binary and what it answered.
type Evidence struct {
	Asked      string    `json:"asked"` // the redacted command
	ExitCode   *int      `json:"exitCode"`
	Answer     string    `json:"answer"` // bounded, redacted excerpt
	TimedOut   bool      `json:"timedOut"`
	At         time.Time `json:"at"`
	DurationMs int64     `json:"durationMs"`
}

// Profile is the live evidence about one runtime. Unknown is null or empty.
type Profile struct {
	Runtime          string            `json:"runtime"`
	Kind             Kind              `json:"kind"`
	State            State             `json:"state"`
	Reason           string            `json:"reason"`   // why not available, for a person
	NextStep         string            `json:"nextStep"` // what a person types next
	Limits           []string          `json:"limits"`
	Executable       *Executable       `json:"executable"`
	Version          string            `json:"version"`
	SignedIn         *bool             `json:"signedIn"`
	SignInMethod     string            `json:"signInMethod"`
	Models           []Model           `json:"models"`
	ModelsPartial    bool              `json:"modelsPartial"` // the list is known not to be complete
	DefaultModel     string            `json:"defaultModel"`
	Agents           []Agent           `json:"agents"`
	Flags            map[string]string `json:"flags"` // flag wanted -> the help line that shows it; absent = not shown
	Controls         []Control         `json:"controls"`
	ApprovesAll      bool              `json:"approvesAll"` // headless it asks nobody and refuses itself nothing
	Capability       string            `json:"capability"`  // C1..C3, "" for exec
	CapabilitySource string            `json:"capabilitySource"`
	Family           string            `json:"family"` // "" = unknown, which never proves independence
	FamilySource     string            `json:"familySource"`
	Evidence         []Evidence        `json:"evidence"`
	ProbedAt         time.Time         `json:"probedAt"`
}

// Has reports whether the control was verified in this run.
func (p Profile) Has(name ControlName) bool {
	for _, c := range p.Controls {
		if c.Name == name && c.Verified {
			return true
		}
	}
	return false
}

// EvidenceOf says what shows that the control holds, or why it does not.
func (p Profile) EvidenceOf(name ControlName) string {
	for _, c := range p.Controls {
		if c.Name == name {
			return c.Evidence
		}
	}
	return "the probe did not ask for it"
}

// Shows reports whether the program's own help shows the flag; one that it does not
// show is not used.
func (p Profile) Shows(flag string) bool {
	_, ok := p.Flags[flag]
	return ok
}

// NotShown is the error of a command that would need a flag which help does not show.
// what completes "cannot be …".
func (p Profile) NotShown(flag, what string) error {
	return fmt.Errorf("%s cannot be %s: its help does not show %s", p.Runtime, what, flag)
}

// ControlBy is the control that the flags amount to, with what help says of them as
// its evidence. It needs all of them.
func (p Profile) ControlBy(name ControlName, flags ...string) Control {
	var shown []string
	for _, flag := range flags {
		if !p.Shows(flag) {
			return Control{Name: name, Evidence: "help does not show " + flag}
		}
		shown = append(shown, p.Flags[flag])
	}
	return Control{Name: name, Verified: true, Evidence: strings.Join(shown, " · ")}
}

// Routable reports whether jobs may run on this runtime at all.
func (p Profile) Routable() bool {
	return p.State == StateAvailable || p.State == StateConstrained
}

// ModelNamed finds a live model by the name used on the command line or by what
// an alias stands for today.
func (p Profile) ModelNamed(name string) (Model, bool) {
	for _, m := range p.Models {
		if m.ID == name || (m.Resolved != "" && m.Resolved == name) {
			return m, true
		}
	}
	return Model{}, false
}

// CheckEffort looks a reasoning depth up in the live list of a model, "" meaning
// the runtime's default. Programs tend to take any word and go on, so an effort
// that the list does not show is an error.
func (p Profile) CheckEffort(model, effort string) error {
	model = cmp.Or(model, p.DefaultModel)
	m, ok := p.ModelNamed(model)
	if !ok {
		return fmt.Errorf("effort %q cannot be checked: %s does not list model %q", effort, p.Runtime, model)
	}
	if slices.Contains(m.Efforts, effort) {
		return nil
	}
	return fmt.Errorf("model %q of %s does not offer effort %q; it offers: %s",
		model, p.Runtime, effort, cmp.Or(strings.Join(m.Efforts, ", "), "none"))
}
