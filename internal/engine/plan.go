package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/graph"
	"orchestrate/internal/inventory"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// Names that the engine shares with route.
const (
	isolationWorktree = route.InWorktree
	controlWorktree   = route.ControlWorktree
)

// Plan is everything that is known before anything is dispatched.
type Plan struct {
	Request   Request
	Spec      *spec.Spec
	Graph     *graph.Graph
	Root      string          // workspace root, absolute
	Repo      *workspace.Repo // nil when the workspace is no repository
	Base      string          // commit; "" without a repository
	Dirty     []string        // paths of the checkout that worktrees will not see
	Inventory inventory.Inventory
	Sandbox   sandbox.Level // of this host, as tested for this command
	Jobs      []Planned     // in the spec's order
	Arbiter   Judge
	Notes     []string // what a person should know before the run

	index      map[string]int
	continues  map[string]string   // job -> the one that goes on with its session
	lists      map[string][]string // per job: where in its answer the lists are that others go through, JSONPaths
	copies     map[string][]copied // per job: files of the checkout for its worktree
	inCopies   []string            // secrets in those
	profiles   map[string]runtime.Profile
	probing    func(runtime string) (over func()) // is told of the probes, nil = nobody is
	odd        oddities
	noTreeNext string   // what a person can do about that, "" = see route
	noTree     string   // why no worktree can be made, "" = it can
	source     []byte   // of the spec when the run began; nil = what is in the file
	house      []byte   // what the repository said when the run began, nil = nothing
	fixed      string   // the base when the run began, "" = resolved anew
	inherited  []string // what programs in worktrees find in the checkout above them
	secrets    []string
	allowed    []string // fingerprints of what the operator says is no secret
	redact     *secret.Redactor
	detect     *detect.Detector
	draft      *drafting // the request that this run makes a spec from, nil = it runs one
	asked      *madeFrom // the request that the spec was made from, nil = a person wrote it
}

// Planned is one job with its route, or what blocks it.
type Planned struct {
	Job   *spec.Job
	Tiers policy.Tiers
	Route ledger.Route
	Block *route.Block
	Live  string // rehearsals only: what would block the job live
}

// Judge is the arbiter with its route, or what blocks it.
type Judge struct {
	Needed bool // false in mode checks-only
	Job    *spec.Job
	Route  ledger.Route
	Block  *route.Block
	Live   string // rehearsals only: what would block it live
}

// Plan reads, orders, probes and routes. Diagnostics are what is wrong with the
// spec; with any of them there is no plan. Nothing is dispatched, no model is
// called and nothing is written to the workspace.
func (e *Engine) Plan(ctx context.Context, req Request) (*Plan, []spec.Diagnostic, error) {
	p, errs, err := e.Read(ctx, req)
	if len(errs) > 0 || err != nil {
		return nil, errs, err
	}
	p.survey(ctx, e)
	return p, nil, ctx.Err()
}

// Read is the part of Plan that asks no runtime anything. All diagnostics are found
// here.
func (e *Engine) Read(ctx context.Context, req Request) (*Plan, []spec.Diagnostic, error) {
	p := &Plan{Request: req}
	if errs, err := p.readAll(ctx, e); len(errs) > 0 || err != nil {
		return nil, errs, err
	}
	if err := p.agentSecrets(); err != nil {
		return nil, nil, err
	}
	return p, nil, ctx.Err()
}

func (p *Plan) readAll(ctx context.Context, e *Engine) ([]spec.Diagnostic, error) {
	if err := p.locate(ctx); err != nil {
		return nil, err
	}
	if err := p.holdsOpened(ctx, e); err != nil {
		return nil, err
	}
	if err := p.placesTrees(e); err != nil {
		return nil, err
	}
	if errs, err := p.readGuarded(ctx, e); len(errs) > 0 || err != nil {
		return errs, err
	}
	if errs, err := p.fixBase(ctx); len(errs) > 0 || err != nil {
		return errs, err
	}
	var err error
	if p.inherited, err = p.overTrees(ctx, e); err != nil {
		return nil, err
	}
	return p.apply(e), nil
}

// survey asks the runtimes what they are and routes the jobs. It is cut short when
// ctx ends.
func (p *Plan) survey(ctx context.Context, e *Engine) {
	level := make(chan sandbox.Level, 1)
	go func() { level <- e.Level(ctx) }()
	odd := make(chan oddities, 1)
	go func() { odd <- p.look(ctx) }()
	p.probe(ctx, e)
	p.odd = <-odd
	p.Sandbox = <-level
	if ctx.Err() != nil {
		return // what a cut probe says is no reason to block anything
	}
	p.route(e)
	p.note()
	p.noteBudget(e)
	p.noteHot(ctx)
	p.noteAllowed(e.Env)
	p.detect.Rest()
}

func (p *Plan) read() (errs []spec.Diagnostic) {
	path := p.Request.Spec
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Request.Cwd, path)
	}
	opt := spec.Options{Cwd: p.Request.Cwd, WorkspaceRoot: p.Root, Secrets: p.findSecrets, Repository: p.repositorySays, Worker: p.Request.Worker != ""}
	if p.source != nil {
		p.Spec, errs = spec.Parse(path, p.source, opt)
	} else {
		p.Spec, errs = spec.Load(path, opt)
	}
	if len(errs) > 0 {
		return errs
	}
	if p.source == nil {
		if p.asked = p.requestBehind(); p.asked != nil && p.asked.abroad {
			return p.strayed()
		}
	}
	p.Root = p.Spec.WorkspaceRoots[0]
	p.Graph, errs = graph.New(p.Spec)
	return errs
}

// apply gives every job its tiers and holds it against them.
func (p *Plan) apply(e *Engine) (errs []spec.Diagnostic) {
	beside := p.Graph.ConcurrentWriters()
	p.index, p.continues = make(map[string]int, len(p.Spec.Jobs)), map[string]string{}
	p.Jobs = make([]Planned, len(p.Spec.Jobs))
	for i := range p.Spec.Jobs {
		j := &p.Spec.Jobs[i]
		p.index[j.ID] = i
		if j.Continue != "" {
			p.continues[j.Continue] = j.ID
		}
		if p.Jobs[i].Job = j; j.Gathers() {
			continue // nobody does it, so that nothing is asked of who does
		}
		p.Jobs[i].Tiers = policy.TiersOf(j, beside[j.ID], e.sensitive)
		errs = append(errs, policy.Validate(i, j, p.Jobs[i].Tiers)...)
		errs = append(errs, unfit(i, j)...)
	}
	p.findLists()
	p.Arbiter.Needed = p.Spec.Arbiter.Mode != arbiter.ModeChecksOnly
	if !p.Arbiter.Needed && !p.Spec.Worker && !arbiter.MayCheckOnly(p.execOnly(), p.risks()) {
		errs = append(errs, spec.Diagnostic{
			Pos: p.Spec.ModePos, Field: "arbiter.mode", Rule: "checks-only",
			Message: "checks-only is allowed when every job is a plain program or none is above R1; leave the mode out, and an arbiter reviews the work",
		})
	}
	return errs
}

func (p *Plan) execOnly() bool {
	return !slices.ContainsFunc(p.Jobs, func(j Planned) bool { return !j.Job.Exec() && !j.Job.Gathers() })
}

func (p *Plan) risks() (all []string) {
	for _, j := range p.Jobs {
		if !j.Job.Gathers() {
			all = append(all, string(j.Tiers.Risk))
		}
	}
	return all
}

// probe asks the candidates what they are.
func (p *Plan) probe(ctx context.Context, e *Engine) {
	var ask []runtime.Adapter
	for _, a := range e.Adapters {
		if p.candidate(a.Name(), e.Operator) {
			ask = append(ask, a)
		}
	}
	p.Inventory = inventory.Prober{Begun: p.probing}.Probe(ctx, e.Host, ask)
	if p.candidate(runtime.Internal, e.Operator) {
		p.Inventory.Profiles = append(p.Inventory.Profiles, p.Request.Agents.Profile(e.Now()))
	}
	p.profiles = map[string]runtime.Profile{}
	for i, pr := range p.Inventory.Profiles {
		p.Inventory.Profiles[i] = policy.Judged(pr, e.Operator)
		p.profiles[pr.Runtime] = p.Inventory.Profiles[i]
	}
}

// Runtimes that have no program of their own to be found.
const (
	runtimeExec    = "exec"
	runtimeStandin = "standin"
)

// candidate reports whether a runtime may be needed: named, a fallback, or open
// to an unpinned job or arbiter, where the operator allows it.
func (p *Plan) candidate(name string, op policy.Operator) bool {
	if name == runtimeExec || name == p.Spec.Arbiter.Runtime {
		return true
	}
	if name == runtimeStandin && p.Request.Rehearse {
		return true
	}
	byPolicy := name != runtimeStandin && op.Allows(name)
	if name == runtime.Internal { // which policy never chooses unless that is asked for
		byPolicy = p.Request.Internal
	}
	open := p.Arbiter.Needed && p.Spec.Arbiter.Runtime == ""
	for _, j := range p.Jobs {
		if j.Job.Gathers() {
			continue
		}
		if j.Job.Runtime == name {
			return true
		}
		open = open || (j.Job.Runtime == "" && !j.Job.Exec())
		for _, f := range j.Job.Fallbacks {
			if f.Runtime == name {
				return true
			}
			open = open || f.Runtime == ""
		}
	}
	return open && byPolicy
}

func (p *Plan) profile(name string) runtime.Profile { return p.profiles[name] }

// isolated reports whether a job works in a tree of its own.
func (p *Plan) isolated(id string) bool {
	i, ok := p.index[id]
	return ok && p.Jobs[i].routed() && p.Jobs[i].Route.Isolation == isolationWorktree
}

// Planned finds a job of the plan.
func (p *Plan) Planned(id string) (*Planned, bool) {
	i, ok := p.index[id]
	if !ok {
		return nil, false
	}
	return &p.Jobs[i], true
}

// Rehearsal reports whether the stand-in takes any part.
func (p *Plan) Rehearsal() bool {
	return p.Request.Rehearse || p.Arbiter.Route.Runtime == runtimeStandin ||
		slices.ContainsFunc(p.Jobs, func(j Planned) bool { return j.Route.Runtime == runtimeStandin })
}

// mayRehearse reports whether the stand-in may take any part, before anything is
// routed.
func (p *Plan) mayRehearse() bool {
	return p.Request.Rehearse || p.Spec.Arbiter.Runtime == runtimeStandin ||
		slices.ContainsFunc(p.Jobs, func(j Planned) bool {
			return j.Job.Runtime == runtimeStandin ||
				slices.ContainsFunc(j.Job.Fallbacks, func(f spec.Fallback) bool { return f.Runtime == runtimeStandin })
		})
}

// note says what a person should know before anything starts.
func (p *Plan) note() {
	p.Spec.Warning = append(p.Spec.Warning, p.Graph.Warnings(p.isolated)...)
	p.noteRepository()
	p.noteRequest()
	p.noteOdd()
	p.noteNested()
	p.noteHosted()
	if !p.Sandbox.Holds() {
		p.Notes = append(p.Notes, "no sandbox holds jobs and checks here: "+p.Sandbox.Evidence)
	}
	if shown := ledger.HistoryShown(p.Root); shown != "" && p.Repo != nil {
		p.Notes = append(p.Notes, shown)
	}
	if len(p.Dirty) > 0 && slices.ContainsFunc(p.Jobs, func(j Planned) bool { return p.isolated(j.Job.ID) }) {
		p.Notes = append(p.Notes, fmt.Sprintf("the checkout has uncommitted changes (%s); worktrees start from commit %.12s and do not see them", some(p.Dirty), p.Base))
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.routed() && p.dependent(j.Route) {
			p.Notes = append(p.Notes, fmt.Sprintf("job %s, which judges, is %s", j.Job.ID, judging(j.Route)))
		}
		if j.triedOnce() {
			p.Notes = append(p.Notes, fmt.Sprintf("job %s has one attempt, whatever its retry and fallback_runtime say: it works in the shared checkout (isolation: none)", j.Job.ID))
		}
	}
	if p.draft == nil {
		p.noteArbiter()
	}
}

// triedOnce reports whether a job that declares what follows a failed attempt can
// have no other one: what the first left in the checkout would be taken for the person's.
func (j *Planned) triedOnce() bool {
	declared := len(j.Job.Fallbacks) > 0 || j.Job.Retry.MaxAttempts > 1
	return declared && j.routed() && j.Job.Writes() && j.Job.Isolation == route.InCheckout && j.Route.Isolation != isolationWorktree
}

// dependent reports whether a judge is not known to be of another family than those
// whose work it judges. In a rehearsal nobody really judges.
func (p *Plan) dependent(r ledger.Route) bool {
	return r.Independence != "" && !route.IsIndependent(r.Independence) && !p.Request.Rehearse
}

// judging says how dependent a judge is, and what a person can do where that is only
// because nobody knows.
func judging(r ledger.Route) string {
	if !strings.Contains(r.Independence, "unknown") {
		return r.Independence
	}
	return r.Independence + "; if you know whose model answers, say it in the operator's configuration (`runtimes: {NAME: {family: …}}`)"
}

// script is the stand-in's script: the one asked for, else the one beside the spec.
func (p *Plan) script() string {
	if p.Request.Script != "" {
		return p.Request.Script
	}
	beside := p.Spec.Path + ".standin"
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return ""
}
