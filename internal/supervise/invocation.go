// Package supervise owns one process tree at a time: it starts the program,
// streams, bounds, redacts and decodes what it says, keeps the deadline, stops it
// and proves that nothing of it is left. The work is done by a small process of
// its own (cmd/orchestrate-supervise), which outlives the engine; this package
// holds both sides: Slot is the engine's, Serve is the supervisor's.
package supervise

import (
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
)

// Invocation is one attempt as it is handed to a supervisor, in one frame. It
// holds raw argv and environment and therefore never touches the disk.
type Invocation struct {
	Job         string              `json:"job"`
	Attempt     int                 `json:"attempt"`
	Dir         string              `json:"dir"` // absolute and existing: stdout.txt, stderr.txt, events.jsonl, exit.json go here
	Argv        []string            `json:"argv"`
	Env         []string            `json:"env"` // the whole environment, NAME=value
	Cwd         string              `json:"cwd"`
	Stdin       []byte              `json:"stdin"` // given whole, then closed; nil = /dev/null
	Decoder     runtime.DecoderSpec `json:"decoder"`
	Timeout     time.Duration       `json:"timeout"`     // > 0
	FirstOutput time.Duration       `json:"firstOutput"` // 0 = none
	Grace       time.Duration       `json:"grace"`       // between the polite signal and SIGKILL
	PoliteStop  string              `json:"politeStop"`  // INT, TERM, TERM-GROUP or ""
	MaxBytes    int64               `json:"maxBytes"`    // kept per stream, head and tail together
	Secrets     []string            `json:"secrets"`     // exact values to redact beside the patterns
	// Sandbox is what the program is held to by the kernel; nil = it is not.
	Sandbox *sandbox.Policy `json:"sandbox,omitempty"`
	// AllowedSecrets are the fingerprints of values that the operator allowed.
	AllowedSecrets []string `json:"allowedSecrets"`
	Unredacted     bool     `json:"unredacted"` // only for the test that proves its searcher
}

// Stop says why the supervisor ended a program that had not ended by itself.
type Stop string

// Why a program was stopped.
const (
	StopNone        Stop = ""
	StopTimeout     Stop = "timeout"
	StopFirstOutput Stop = "first_output"
	StopCancelled   Stop = "cancelled"
	StopSettled     Stop = "settled" // the decoder saw that it is hopeless, or a denial ended it
)

// ProofLevel says by what means the end of a tree was proven.
type ProofLevel string

// Levels of proof, strongest first.
const (
	ProofCgroup    ProofLevel = "cgroup"
	ProofSubreaper ProofLevel = "subreaper"
	ProofPolled    ProofLevel = "polled"
	ProofNone      ProofLevel = "unavailable"
)

// Process identifies a process beyond the reuse of its pid.
type Process struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"startTime"` // on Linux clock ticks since boot, on macOS microseconds since 1970; 0 = unknown
}

// Proof says whether the whole tree is gone, and how that is known.
type Proof struct {
	Level ProofLevel `json:"level"`
	Gone  bool       `json:"gone"`
	Left  []Process  `json:"left"`
}

// Exit is what the supervisor knows when a tree has ended: exit.json.
type Exit struct {
	SchemaVersion int             `json:"schemaVersion"`
	Job           string          `json:"job"`
	Attempt       int             `json:"attempt"`
	PID           int             `json:"pid"`
	ExitCode      *int            `json:"exitCode"` // null when a signal ended it or it never started
	Signal        string          `json:"signal"`
	Stop          Stop            `json:"stop"`
	SpawnError    string          `json:"spawnError"` // it could not be started
	StartedAt     time.Time       `json:"startedAt"`
	EndedAt       time.Time       `json:"endedAt"`
	DurationMs    int64           `json:"durationMs"`
	Truncated     Truncated       `json:"truncated"`
	Outcome       runtime.Outcome `json:"outcome"`
	Proof         Proof           `json:"proof"`
	// Sandbox is what the kernel held the program by; null = by nothing.
	Sandbox     *sandbox.Applied `json:"sandbox"`
	Events      int64            `json:"events"` // lines in events.jsonl
	CPUMs       int64            `json:"cpuMs"`
	MaxRSSBytes int64            `json:"maxRssBytes"` // wait4's figure: never below what the supervisor itself had when it started the program
}

// Truncated counts the bytes of each stream that were dropped between its head and its
// tail. Lines with pieces are no part of that: they are counted where they stood.
type Truncated struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
}
