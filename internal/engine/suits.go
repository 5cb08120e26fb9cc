package engine

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// oddities are what of a repository keeps some jobs from working in it, or is not in a
// worktree as it is in the checkout.
type oddities struct {
	known      bool
	filtered   map[string]string // files of the base that go through a filter of git, with its name
	links      map[string]string // symbolic links of the base, with where they lead
	submodules []workspace.Submodule
	unnamed    []string // repositories in the base that no .gitmodules names
	missing    int      // files of the base that a partial clone lacks
	lacked     []string // some of those
	closed     error    // why the git directory cannot be written
	ignored    []string // what of the checkout git ignores
	failed     error    // why some of it could not be found out
}

// look finds out what is odd about the repository.
func (p *Plan) look(ctx context.Context) (o oddities) {
	if p.Repo == nil || p.noTree != "" {
		return o
	}
	o.closed = p.Repo.Writable()
	if o.missing, o.lacked, o.failed = p.Repo.Missing(ctx, p.Base); o.failed != nil || o.missing > 0 {
		return o // the rest cannot be read
	}
	if o.submodules, o.failed = p.Repo.Submodules(ctx, p.Base); o.failed != nil {
		return o
	}
	if o.unnamed, o.failed = p.Repo.Unnamed(ctx, p.Base); o.failed != nil {
		return o
	}
	if slices.ContainsFunc(p.Jobs, func(j Planned) bool { return j.Job.Writes() }) {
		if o.filtered, o.failed = p.Repo.Filtered(ctx, p.Base); o.failed != nil {
			return o
		}
		if o.links, o.failed = p.Repo.LinksAt(ctx, p.Base); o.failed != nil {
			return o
		}
	}
	o.ignored, o.failed = p.Repo.IgnoredFiles(ctx, p.highest())
	o.known = o.failed == nil
	return o
}

// highest is the folder, from the top of the repository, that holds the cwds of all jobs.
func (p *Plan) highest() string {
	common := ""
	for i, j := range p.Jobs {
		dir := relTo(p.top(), j.Job.Cwd)
		if i == 0 {
			common = dir
		}
		for common != "." && dir != common && !strings.HasPrefix(dir, common+"/") {
			common = path.Dir(common)
		}
	}
	if common == "" || !filepath.IsLocal(common) {
		return "."
	}
	return common
}

// unsuited says what of the repository keeps a job from working on a route, nil = nothing.
func (p *Plan) unsuited(j *spec.Job, r ledger.Route) *route.Block {
	o := &p.odd
	if r.Isolation == isolationWorktree {
		if block := p.untreeable(o); block != nil {
			return block
		}
	}
	if !j.Writes() || p.Repo == nil {
		return nil
	}
	if sub := p.insideSubmodule(j, o.submodules); sub != "" {
		return noRoute(
			fmt.Sprintf("what it is to change is inside the submodule %s, and no patch of %s can hold that", sub, p.top()),
			fmt.Sprintf("run it from that repository: cd %s && orchestrate run SPEC", filepath.Join(p.top(), filepath.FromSlash(sub))))
	}
	if files := p.ownsFiltered(j, o.filtered); len(files) > 0 {
		return noRoute(
			fmt.Sprintf("it may change %s, which git passes through a filter (%s) that is off here, so that the content itself would go into git", someOf(files), filtersOf(o.filtered, files)),
			"narrow owned_paths so that they match none of these files, and change them by hand")
	}
	return nil
}

// untreeable says why no worktree of the base can be made.
func (p *Plan) untreeable(o *oddities) *route.Block {
	if o.closed != nil {
		return noRoute(fmt.Sprintf("it needs a worktree, and the git directory cannot be written: %v", o.closed),
			"make it writable for you, or let the job only observe")
	}
	if o.missing > 0 {
		what := ""
		if len(o.lacked) > 0 {
			what = " (" + someOf(o.lacked) + ")"
		}
		return noRoute(
			fmt.Sprintf("it needs a worktree, but this is a partial clone and %d objects of commit %.12s are not on this machine%s; nothing is fetched for a job", o.missing, p.Base, what),
			fmt.Sprintf("bring them first: git checkout %.12s (git fetches what it needs), or once for all: git fetch --refetch --no-filter", p.Base))
	}
	for _, m := range o.submodules {
		if m.Used && m.Lacks != "" {
			return noRoute(
				fmt.Sprintf("it needs a worktree, but the submodule %s cannot be filled in it: %s; nothing is fetched for a job", m.Path, m.Lacks),
				fmt.Sprintf("bring it first, with commit %.12s checked out: git submodule update --init --recursive", p.Base))
		}
	}
	return nil
}

func noRoute(detail, next string) *route.Block {
	return &route.Block{Reason: runtime.BlockedNoRoute, Detail: detail, NextStep: next}
}

// insideSubmodule is the submodule in which a writer works, or in which one of its owned
// paths lies as a whole, "" = none.
func (p *Plan) insideSubmodule(j *spec.Job, all []workspace.Submodule) string {
	cwd := relTo(p.top(), j.Cwd)
	dirs := []string{cwd}
	for _, glob := range j.OwnedPaths {
		dirs = append(dirs, path.Join(cwd, literalPart(glob)))
	}
	found := ""
	for _, m := range all {
		for _, dir := range dirs {
			if dir == m.Path || strings.HasPrefix(dir, m.Path+"/") {
				found = m.Path // the innermost comes last
			}
		}
	}
	return found
}

// literalPart is the part of a pattern before its first wildcard, in whole names.
func literalPart(glob string) string {
	var parts []string
	for _, part := range strings.Split(path.Clean(glob), "/") {
		if strings.ContainsAny(part, `*?[{\`) {
			break
		}
		parts = append(parts, part)
	}
	return path.Join(parts...)
}

// ownsFiltered lists the files with a filter that a writer may change.
func (p *Plan) ownsFiltered(j *spec.Job, filtered map[string]string) []string {
	if len(filtered) == 0 {
		return nil
	}
	files := slices.Sorted(maps.Keys(filtered))
	cwd := relTo(p.top(), j.Cwd)
	foreign := map[string]bool{}
	for _, name := range check.Ownership(j.OwnedPaths, cwd, files) {
		foreign[name] = true
	}
	return slices.DeleteFunc(files, func(name string) bool { return foreign[name] })
}

// filtersOf names the filters of some files.
func filtersOf(filtered map[string]string, files []string) string {
	var names []string
	for _, name := range files {
		names = append(names, filtered[name])
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// someOf shows a few of many paths.
func someOf(list []string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// noteOdd says what of the checkout worktrees have not, or not as it is there.
func (p *Plan) noteOdd() {
	o := &p.odd
	if o.failed != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("what is odd about the repository could not be found out: %v", o.failed))
	}
	var isolated []*spec.Job
	for i := range p.Jobs {
		if p.isolated(p.Jobs[i].Job.ID) {
			isolated = append(isolated, p.Jobs[i].Job)
		}
	}
	if len(isolated) == 0 {
		return
	}
	if files := slices.Sorted(maps.Keys(o.filtered)); len(files) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("a filter of git (%s) that is off here applies to %s: %s; a worktree holds what git stores of them (of LFS files, pointers), and no job may change them",
			filtersOf(o.filtered, files), figure.Count(len(files), "file"), someOf(files)))
	}
	var empty []string
	for _, m := range o.submodules {
		if !m.Used && m.Lacks != "" {
			empty = append(empty, m.Path)
		}
	}
	if len(empty) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("submodules that are empty in the checkout are empty in worktrees too: %s; if a job needs them: git submodule update --init --recursive", someOf(empty)))
	}
	if len(o.unnamed) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("repositories that git records and no .gitmodules names are empty in worktrees: %s; if a job needs one: git submodule add URL %s", someOf(o.unnamed), o.unnamed[0]))
	}
	if note := p.lackingNote(isolated, o.ignored); note != "" {
		p.Notes = append(p.Notes, note)
	}
}
