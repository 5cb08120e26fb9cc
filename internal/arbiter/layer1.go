package arbiter

import (
	"cmp"
	"fmt"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// The rules of layer 1. One that is broken fails the run whatever anyone says.
const (
	RuleJobFailed       = "job-failed"
	RuleOutputMissing   = "output-missing"
	RuleOutputHash      = "output-hash"
	RuleCheckFailed     = "check-failed"
	RuleCheckNotRun     = "check-not-run"
	RuleOwnership       = "ownership"
	RuleSettlement      = "settlement"
	RuleFloorCapability = "floor-capability"
	RuleFloorRisk       = "floor-risk"
	RuleInventoryStale  = "inventory-stale"
	RuleWroteObserving  = "wrote-while-observing"
	RuleInjectedSecret  = "injected-secret"
	RuleRiskControls    = "risk-controls"
	RuleApproval        = "approval"
	RuleSnapshot        = "snapshot"
)

// JobFacts is what the engine itself knows about one job (or the arbiter).
type JobFacts struct {
	Job             *spec.Job // its declared checks and outputs; nil for the arbiter
	ID              string
	Exec            bool
	Status          ledger.JobStatus
	CapabilityFloor string          // by policy, "" = none
	RiskFloor       string          // by policy
	Probed          bool            // the route's runtime was probed in this run
	Outputs         []check.Problem // what check.Outputs found wrong
	Outside         []string        // changed paths that the job does not own
	Observed        []string        // paths that an observing job changed
	Secrets         []string        // rules of secrets in its patch, never values
	Lacking         string          // what the gate says of controls that the recorded route lacks, "" = it lacks none
	Unapproved      string          // why the approval that it needs is none, "" = it has one or needs none
	Differs         []string        // its outputs, or its answer, that are not what was recorded of them
	Moved           string          // how its base or its snapshot is not the recorded one, "" = it is
}

// Layer1 lists every broken rule. That a job did not succeed is said only where
// no other rule says why; one that a pattern did not need breaks none.
func Layer1(jobs []JobFacts) []ledger.Finding {
	var all []ledger.Finding
	for _, f := range jobs {
		if f.Status.Status == ledger.Skipped {
			continue
		}
		l := finder{job: f.ID}
		l.apply(f)
		if f.Status.Status != ledger.Success && len(l.found) == 0 {
			l.add(RuleJobFailed, l.ended(f), "it ended %s: %s", f.Status.Status, because(f.Status))
		}
		all = append(all, l.found...)
	}
	return all
}

func because(s ledger.JobStatus) string {
	if !s.ReasonEvidence.Empty() {
		return fmt.Sprintf("%s: %s", s.Reason, s.ReasonEvidence)
	}
	return string(s.Reason)
}

// finder collects the findings of one job.
type finder struct {
	job   string
	found []ledger.Finding
}

// add records a broken rule; evidence are the paths in the run directory that show it.
func (l *finder) add(rule string, evidence []string, format string, args ...any) {
	l.found = append(l.found, ledger.Finding{Rule: rule, Job: l.job, Detail: fmt.Sprintf(format, args...), Evidence: evidence})
}

// status is the evidence of what is recorded of the job, with more files of it.
func (l *finder) status(more ...string) []string {
	paths := []string{ledger.JobPath(l.job, ledger.StatusFile)}
	for _, name := range more {
		paths = append(paths, ledger.JobPath(l.job, name))
	}
	return paths
}

// ended is the evidence of how the job ended; one that never ran left its status only.
func (l *finder) ended(f JobFacts) []string {
	if f.Status.Attempts == 0 || f.Status.Proof == nil {
		return l.status()
	}
	if stated(f.Status) {
		return l.status(ledger.SubmissionFile)
	}
	return l.status(ledger.ExitFile)
}

// apply holds one job to every rule; a job that never ran can break only the first.
func (l *finder) apply(f JobFacts) {
	if !f.Status.Status.Settled() {
		l.add(RuleSettlement, []string{ledger.StateFile}, "it is still %s", f.Status.Status)
	}
	if f.Status.Attempts == 0 {
		return
	}
	switch p := f.Status.Proof; {
	case p != nil && p.Gone:
	case stated(f.Status):
		l.add(RuleSettlement, l.ended(f), "the hosting session does not say that it has ended")
	default:
		l.add(RuleSettlement, l.ended(f), "it is not proven that all its processes ended")
	}
	l.route(f)
	l.gated(f)
	l.paths(f)
	l.outputs(f)
	l.checks(f)
}

// route holds the last attempt's route to the floors and to this run's probes.
func (l *finder) route(f JobFacts) {
	r := f.Status.Route
	if r == nil {
		l.add(RuleFloorCapability, l.status(), "no route is recorded")
		return
	}
	if !f.Exec && r.Capability < f.CapabilityFloor {
		l.add(RuleFloorCapability, append(l.status(), ledger.RuntimesFile), "%s is %s, the floor is %s", r.Runtime, tier(r.Capability), f.CapabilityFloor)
	}
	if r.Risk < f.RiskFloor {
		l.add(RuleFloorRisk, append(l.status(), ledger.JobsFile), "it ran as %s, the floor is %s", tier(r.Risk), f.RiskFloor)
	}
	if f.Job != nil && f.Job.Writes() && max(r.Risk, f.RiskFloor) >= "R2" && f.Status.Worktree == nil {
		l.add(RuleFloorRisk, l.status(), "%s needs a worktree and it had none", max(r.Risk, f.RiskFloor))
	}
	if !f.Probed {
		l.add(RuleInventoryStale, append(l.status(), ledger.RuntimesFile), "%s was not probed in this run", r.Runtime)
	}
}

// stated reports whether a job was the hosting session's: that it has ended is that one's
// word, and nothing of it was a process that could be looked for.
func stated(s ledger.JobStatus) bool { return s.Proof != nil && s.Proof.Level == handoff.Stated }

// tier is a tier's name, or words for none.
func tier(name string) string { return cmp.Or(name, "of no tier") }

// gated holds the attempt to what had to be there before it could begin.
func (l *finder) gated(f JobFacts) {
	if f.Lacking != "" {
		l.add(RuleRiskControls, append(l.status(), ledger.RuntimesFile), "%s", f.Lacking)
	}
	if f.Unapproved != "" {
		l.add(RuleApproval, append(l.status(), ledger.JobsFile), "%s", f.Unapproved)
	}
	if f.Moved != "" {
		l.add(RuleSnapshot, l.status(), "what it worked on or left is not what is recorded: %s", f.Moved)
	}
}

func (l *finder) paths(f JobFacts) {
	if len(f.Outside) > 0 {
		l.add(RuleOwnership, l.status(ledger.PatchFile), "it changed what it does not own: %s", some(f.Outside))
	}
	if len(f.Observed) > 0 {
		l.add(RuleWroteObserving, l.status(), "it was to observe and changed %s", some(f.Observed))
	}
	if len(f.Secrets) > 0 {
		l.add(RuleInjectedSecret, l.status(ledger.PatchFile), "it left a secret (%s)", some(f.Secrets))
	}
}

// outputs holds the record against what was declared; an output that nobody
// looked for is missing.
func (l *finder) outputs(f JobFacts) {
	broken := map[string]bool{}
	for _, p := range f.Outputs {
		rule := RuleOutputMissing
		if p.Rule == check.OutputHash {
			rule = RuleOutputHash
		}
		broken[p.Path] = true
		l.add(rule, l.status(), "%s: %s", p.Path, p.Detail)
	}
	for _, name := range f.Differs {
		broken[name] = true
		l.add(RuleOutputHash, l.left(f, name), "%s: what is there is not what was recorded", name)
	}
	if f.Job == nil || f.Status.Status != ledger.Success {
		return
	}
	for _, o := range f.Job.Outputs {
		a, ok := artifact(f.Status.Artifacts, o.Path)
		switch {
		case broken[o.Path]:
		case !ok || a.Bytes == 0:
			l.add(RuleOutputMissing, l.status(), "%s: not among the recorded artifacts", o.Path)
		case o.SHA256 != "" && !strings.EqualFold(o.SHA256, a.SHA256):
			l.add(RuleOutputHash, l.status(), "%s: its sha256 is %s, declared is %s", o.Path, a.SHA256, o.SHA256)
		}
	}
}

// left is the evidence of what the job left under a name; an output in its tree is in
// the patch.
func (l *finder) left(f JobFacts, name string) []string {
	if name == ledger.OutputFile {
		return l.status(name)
	}
	if a, ok := artifact(f.Status.Artifacts, name); ok && a.Source == "tree" {
		return l.status(ledger.PatchFile)
	}
	return l.status(ledger.ArtifactsDir + "/" + name)
}

func artifact(list []ledger.Artifact, path string) (ledger.Artifact, bool) {
	for _, a := range list {
		if a.Path == path {
			return a, true
		}
	}
	return ledger.Artifact{}, false
}

func (l *finder) checks(f JobFacts) {
	for i, c := range f.Status.Checks {
		switch seen := l.checked(i+1, c); {
		case check.OK(c):
		case c.Status == check.NotRun:
			l.add(RuleCheckNotRun, seen, "%s was not run", c.Name)
		default:
			l.add(RuleCheckFailed, seen, "%s: %s", c.Name, c.Status)
		}
	}
	if f.Job == nil || f.Status.Status != ledger.Success {
		return
	}
	for i, c := range f.Job.Checks {
		switch name := check.Name(i+1, c); {
		case i >= len(f.Status.Checks):
			l.add(RuleCheckNotRun, append(l.status(), ledger.JobsFile), "%s has no result", name)
		case c.Assert == "" && f.Status.Checks[i].Kind != "run":
			l.add(RuleCheckNotRun, l.checked(i+1, f.Status.Checks[i]), "%s is a command and is recorded as %s", name, cmp.Or(f.Status.Checks[i].Kind, "nothing"))
		}
	}
}

// checked is the evidence of check n.
func (l *finder) checked(n int, c ledger.Check) []string {
	paths := []string{ledger.CheckPath(l.job, n, "json")}
	if c.Output != "" {
		paths = append(paths, c.Output)
	}
	return paths
}

// some names the first few of a list.
func some(list []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, s := range list[:min(len(list), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", s))
	}
	text := strings.Join(quoted, ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}
