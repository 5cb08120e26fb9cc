// Package policy holds the rules that decide without asking anyone: which floors
// a job has, what a runtime is capable of by evidence, how an attempt ended, and
// what follows from that. Everything here is a pure function of its arguments.
package policy

import (
	"strings"

	"orchestrate/internal/spec"
)

// Capability is a tier of judgment, C1 to C3. The empty tier is that of a plain
// program: it has none and asks for none.
type Capability string

// The capability tiers.
const (
	NoCapability Capability = ""
	C1           Capability = "C1" // throughput: search, extraction, repetitive changes
	C2           Capability = "C2" // delivery: multi-file changes, test design
	C3           Capability = "C3" // judgment: trade-offs, review, arbitration
)

// Less reports whether c is below other.
func (c Capability) Less(other Capability) bool { return c < other }

// Risk is a tier of possible harm, R0 to R3.
type Risk string

// The risk tiers.
const (
	R0 Risk = "R0" // observe
	R1 Risk = "R1" // scoped write
	R2 Risk = "R2" // isolated write
	R3 Risk = "R3" // external or destructive
)

// Less reports whether r is below other.
func (r Risk) Less(other Risk) bool { return r < other }

// TaskArbiter is the arbiter's own task word; no job of a spec can have it.
const TaskArbiter = "arbiter"

// CapabilityFloor is the least capability that a task needs. importance is
// "normal" or "high".
func CapabilityFloor(task, importance string) Capability {
	switch task {
	case "research":
		return C1
	case "analysis", "test":
		return C2
	case "implement":
		if importance == "high" {
			return C3
		}
		return C2
	case "architecture", "synthesis", "review", "audit", "security", TaskArbiter:
		return C3
	}
	return C1 // scout, docs, writing, mechanical
}

// Judges reports whether a task passes judgment on the work of others, so that a
// different family is preferred and a plain program cannot do it.
func Judges(task string) bool {
	switch task {
	case "review", "audit", "security", TaskArbiter:
		return true
	}
	return false
}

// RiskFacts is all that a job's risk follows from.
type RiskFacts struct {
	Task         string
	Importance   string // normal | high
	Effect       string // observe | scoped-write | high-impact-write | external-destructive
	Untrusted    bool
	Credentialed bool
	Destructive  bool
	SensitiveEnv []string // variables in env_allow and what is the matter: "MY_KEY, which looks like a secret"
	BesideWriter string   // another writer that may run at the same time; "" = none
	Broad        bool     // a writer that owns its whole cwd; not in the worker form, where that is what is asked for
}

// RiskFactsOf collects the facts of a job. beside is another writer that may run
// at the same time as this one ("" = none); sensitive completes "NAME, which …" where a
// variable gives more than a sandbox holds, and is "" for the others.
func RiskFactsOf(j *spec.Job, beside string, sensitive func(name string) string) RiskFacts {
	f := RiskFacts{
		Task: j.Task, Importance: j.Importance, Effect: j.Effect, Untrusted: j.Untrusted,
		Credentialed: j.Credentialed, Destructive: j.Destructive, BesideWriter: beside,
		Broad: j.Writes() && j.OwnsCwd() && j.Worker == nil,
	}
	for _, name := range j.EnvAllow {
		if why := sensitive(name); why != "" {
			f.SensitiveEnv = append(f.SensitiveEnv, name+", which "+why)
		}
	}
	return f
}

// RiskOf is the risk of a job and the facts that put it there. The highest fact
// wins; nothing lowers it.
func RiskOf(f RiskFacts) (Risk, string) {
	tier, why := R0, []string{"effect observe"}
	add := func(r Risk, reason string) {
		switch {
		case tier.Less(r):
			tier, why = r, []string{reason}
		case tier == r && r != R0:
			why = append(why, reason)
		}
	}
	add(effectRisk(f.Effect), "effect "+f.Effect)
	taskRisk(f, add)
	if f.Untrusted {
		add(R2, "untrusted input")
	}
	if f.Credentialed {
		add(R3, "credentialed")
	}
	if f.Destructive {
		add(R3, "destructive")
	}
	for _, variable := range f.SensitiveEnv {
		add(R3, "env_allow passes "+variable)
	}
	return tier, strings.Join(why, "; ")
}

func effectRisk(effect string) Risk {
	switch effect {
	case "scoped-write":
		return R1
	case "high-impact-write":
		return R2
	case "external-destructive":
		return R3
	}
	return R0
}

// taskRisk adds what the task word says.
func taskRisk(f RiskFacts, add func(Risk, string)) {
	switch f.Task {
	case "implement", "mechanical":
		add(R1, "task "+f.Task)
		if f.BesideWriter != "" {
			add(R2, "task "+f.Task+" beside another writer ("+f.BesideWriter+")")
		}
	}
	if f.Task == "implement" && f.Importance == "high" {
		add(R2, "task implement of high importance")
	}
	if f.Task == "mechanical" && f.Broad {
		add(R2, "task mechanical over the whole cwd")
	}
}
