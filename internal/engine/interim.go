package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// Interim is the report of a run that has not ended, made from its directory and all its
// records so far. standing is one of report's words. Records were redacted before they
// were written.
func Interim(ctx context.Context, run *ledger.Run, records []ledger.Record, standing string, now time.Time) (report.Report, error) {
	i := interim{run: run, jobs: map[string]*spec.Job{}, work: map[string]ledger.Work{}}
	if err := i.read(); err != nil {
		return report.Report{}, err
	}
	i.in = report.Input{
		Standing: standing, Now: now, State: run.State(), Approvals: run.State().Approvals,
		Jobs: map[string]ledger.JobStatus{}, Earlier: map[string][]ledger.JobStatus{}, NextSteps: map[string]string{},
		After: map[string][]string{}, Commands: map[string]string{}, Dirs: map[string]string{}, Patterns: map[string]report.Pattern{}, Continues: map[string]string{}, Exists: i.there, Planned: NoFurther(run) != nil,
	}
	for _, r := range records {
		i.record(r)
	}
	var err error
	if i.in.Sessions, err = sessionsOf(run); err != nil {
		return report.Report{}, err
	}
	i.place(ctx)
	for _, j := range i.in.State.Jobs {
		i.job(j.ID)
	}
	return report.Build(i.in), nil
}

// interim puts the report of a run together that has not ended.
type interim struct {
	run      *ledger.Run
	info     ledger.RunInfo
	jobs     map[string]*spec.Job
	profiles ledger.Runtimes
	work     map[string]ledger.Work // of the newest attempt that ended
	in       report.Input
}

// read takes the jobs and the runtimes from the run's files.
func (i *interim) read() error {
	all, err := writtenJobs(i.run)
	if err != nil {
		return err
	}
	for _, w := range all {
		i.jobs[w.ID] = w.job()
	}
	_, err = i.run.ReadJSON(ledger.RuntimesFile, &i.profiles) // not there before the probes are through
	return err
}

// record takes the next record of the run.
func (i *interim) record(r ledger.Record) {
	switch r.Kind {
	case ledger.KindRunStarted:
		i.info = *r.Run
	case ledger.KindNote:
		i.note(r)
	case ledger.KindIntent, ledger.KindAwaiting, ledger.KindAttemptEnded, ledger.KindSettled, ledger.KindRequeued:
		if r.Job == ledger.ArbiterJob {
			i.arbiter(r)
		} else {
			i.move(r)
		}
	}
}

func (i *interim) note(r ledger.Record) {
	text := r.Text.Line(0)
	if r.About == ledger.AboutCheckout {
		i.in.Checkout = append(i.in.Checkout, text)
	}
	if r.About == ledger.AboutCheckout || r.About == ledger.AboutRun {
		i.in.Notes = append(i.in.Notes, text)
	}
}

// move keeps where a job stands: its newest attempt, and those before.
func (i *interim) move(r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		i.past(r.Job)
		i.in.Jobs[r.Job] = i.underWay(r)
	case ledger.KindAwaiting:
		s := i.in.Jobs[r.Job]
		s.Status = ledger.Awaiting
		i.in.Jobs[r.Job] = s
	case ledger.KindSettled, ledger.KindAttemptEnded:
		i.in.Jobs[r.Job] = *r.Settled
		delete(i.work, r.Job)
		if r.Work != nil {
			i.work[r.Job] = *r.Work
		}
		if r.Kind == ledger.KindAttemptEnded {
			i.past(r.Job)
		}
	case ledger.KindRequeued:
		i.past(r.Job)
	}
}

// past makes the newest attempt of a job one of those before.
func (i *interim) past(job string) {
	if s, ok := i.in.Jobs[job]; ok && s.Attempts > 0 && s.Status.Settled() {
		i.in.Earlier[job] = append(i.in.Earlier[job], s)
	}
	delete(i.in.Jobs, job)
	delete(i.work, job)
}

// arbiter keeps the arbiter's attempts.
func (i *interim) arbiter(r ledger.Record) {
	n := len(i.in.Arbiter)
	switch {
	case r.Kind == ledger.KindIntent:
		i.in.Arbiter = append(i.in.Arbiter, i.underWay(r))
	case r.Settled != nil && n > 0 && i.in.Arbiter[n-1].Status == ledger.Running:
		i.in.Arbiter[n-1] = *r.Settled
	}
}

// underWay is the status of an attempt that has not ended.
func (i *interim) underWay(r ledger.Record) ledger.JobStatus {
	at := r.At
	s := ledger.JobStatus{
		SchemaVersion: ledger.SchemaVersion, ID: r.Job, Attempts: r.Attempt, Status: ledger.Running,
		Runtime: r.Route.Runtime, Model: r.Route.Model, RequestedModel: r.Route.Model, Agent: r.Route.Agent,
		CapabilityTier: r.Route.Capability, RiskTier: r.Route.Risk, Route: r.Route, FallbackReason: route.FallbackReason(*r.Route),
		Controls: append([]string{}, r.Route.Controls...), Artifacts: []ledger.Artifact{}, Checks: []ledger.Check{},
		Rehearsal: r.Route.Runtime == runtimeStandin, StartedAt: &at, DurationMs: max(0, i.in.Now.Sub(at).Milliseconds()),
	}
	if j := i.jobs[r.Job]; j != nil {
		s.Task = j.Task
	}
	return s
}

// place says where the run is, seen from its workspace root.
func (i *interim) place(ctx context.Context) {
	dir := i.info.Dir
	if dir == "" {
		dir = i.run.Dir
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	i.in.RunDir, i.in.SpecPath = relTo(root, i.run.Dir), relTo(root, i.in.State.SpecPath)
	if i.in.Worker = i.info.Worker != ""; i.in.Worker {
		i.in.Given = ledger.CallGiven(i.in.State.SpecPath)
	}
	i.in.Rehearse, i.in.Agents, i.in.Internal = i.info.Rehearse, i.info.AgentsDigest != "", i.info.Internal
	if i.info.Script != "" {
		i.in.Script = relTo(root, i.info.Script)
	}
	if top, err := workspace.Top(ctx, root); err == nil { // else there is no repository
		i.in.GitTop = relTo(root, top)
	}
}

// job completes what is told of a job.
func (i *interim) job(id string) {
	job := i.jobs[id]
	if job == nil {
		return
	}
	i.in.After[id] = job.DependsOn
	inPattern(&i.in, job)
	s, ok := i.in.Jobs[id]
	if !ok {
		return
	}
	if s.Status.Settled() && !s.Status.Well() {
		i.in.NextSteps[id] = trouble{job: job, status: s, run: i.run.ID, draft: i.in.Planned, files: i.run, signIn: signInOf(i.profiles, s.Runtime)}.nextStep()
	}
	if data, err := i.run.ReadFile(ledger.JobPath(id, ledger.CommandFile)); err == nil && s.Attempts > 0 {
		i.in.Commands[id] = string(data)
	}
	for _, a := range append(slices.Clone(i.in.Earlier[id]), s) {
		if a.Worktree != nil && !a.Status.Well() && a.Status.Settled() {
			i.in.KeptTrees = append(i.in.KeptTrees, keptTree(i.in.RunDir, a))
		}
	}
	if p, ok := i.patch(s); ok {
		i.in.Patches = append(i.in.Patches, p)
	}
}

// patch is what a job that has ended left, as its files tell.
func (i *interim) patch(s ledger.JobStatus) (p report.Patch, ok bool) {
	work, ended := i.work[s.ID]
	if !ended || work.Patch == "" || !offered(s) {
		return p, false
	}
	p = report.Patch{
		Job: s.ID, Path: ledger.JobPath(s.ID, ledger.PatchFile), Diffstat: ledger.JobPath(s.ID, ledger.DiffstatFile),
		Base: work.Base, Commit: work.Commit, Branch: orEmpty(s.Branch), Applied: s.Worktree == nil, DisplayOnly: work.Masked,
	}
	patch, err := i.run.ReadFile(p.Path)
	if err != nil || len(patch) == 0 {
		return p, false
	}
	p.Bytes = int64(len(patch))
	if stat, err := i.run.ReadFile(p.Diffstat); err == nil {
		p.Stat = string(stat)
		p.Files, p.Added, p.Deleted, p.Binary = countsOf(p.Stat)
	}
	for id, w := range i.work {
		if id != s.ID && w.Commit != "" && w.Commit == work.Base {
			p.After = id
		}
	}
	return p, true
}

// countsOf reads the last line of a diffstat.
func countsOf(stat string) (files, added, deleted, binary int) {
	lines := strings.Split(strings.TrimSuffix(stat, "\n"), "\n")
	_, _ = fmt.Sscanf(lines[len(lines)-1], sumLine, &files, &added, &deleted, &binary) // one that was changed since counts nothing
	return files, added, deleted, binary
}

func (i *interim) there(rel string) bool { return shows(i.run.Path(rel)) }

// signInOf is what the newest profile of a runtime says to do, "" = nothing.
func signInOf(all ledger.Runtimes, name string) string {
	n := slices.IndexFunc(all.Profiles, func(p runtime.Profile) bool { return p.Runtime == name })
	if n < 0 {
		return ""
	}
	return all.Profiles[n].NextStep
}

// writtenJobs are the jobs in jobs.yaml.
func writtenJobs(run *ledger.Run) ([]writtenJob, error) {
	data, err := run.ReadFile(ledger.JobsFile)
	if err != nil {
		return nil, err
	}
	var all struct {
		Jobs []writtenJob `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", run.Path(ledger.JobsFile), err)
	}
	return all.Jobs, nil
}
