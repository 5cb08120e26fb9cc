//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystem names the kind of file system that a folder is on.
func fileSystem(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "unknown file system"
	}
	switch uint32(st.Type) {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", st.Type)
}

// row is what is said of every command.
func row(s *sample) []string {
	return []string{
		s.name,
		number("%.2f", s.cpuPerUnit()),
		number("%.2f", s.median(func(c cost) float64 { return c.CPU })),
		number("%.2f", s.median(func(c cost) float64 { return c.Wall })),
		number("%.0f", s.median(func(c cost) float64 { return c.RSS })),
	}
}

var rowHead = []string{"command", "CPU ms per job", "CPU s", "wall s", "largest process MiB"}

func flatTable(all []sample, where string, j int) table {
	t := table{
		title: fmt.Sprintf("%d jobs of %s, %d at a time, on %s", many, aProgram, j, where),
		head:  append(slices.Clone(rowHead), "CPU x parallel --results", "CPU x fork/exec and 3 files"),
	}
	suffix := at("", j)
	parallel, files := find(all, at("parallel --results", j)), find(all, at("fork/exec and 3 files", j))
	for i := range all {
		s := &all[i]
		if !strings.HasSuffix(s.name, suffix) || s.units != many || strings.Contains(s.name, "wide") {
			continue
		}
		beside := "–"
		if parallel != nil {
			beside = number("%.2f", s.times(parallel))
		}
		t.add(append(row(s), beside, number("%.2f", s.times(files)))...)
	}
	return t
}

func graphTable(all []sample, where string) table {
	t := table{
		title: "Wide graph (10 stages of 100, each job depends on the whole stage before) and chain of 300, on " + where,
		note:  "The last column is CPU per job beside the program's own flat figure: at the same concurrency for the wide graph, of as many jobs for the chain.",
		head:  append(slices.Clone(rowHead), "CPU x own flat"),
	}
	own := map[string]string{
		at("orchestrate wide", 2): at("orchestrate", 2), at("orchestrate wide", 8): at("orchestrate", 8), at("make wide", 8): at("make", 8),
		at("go-task wide", 8): at("go-task", 8), "orchestrate chain": "orchestrate flat, 300 jobs",
		"make chain": at("make", 2), "go-task chain": at("go-task", 2),
	}
	for i := range all {
		s := &all[i]
		base := find(all, own[s.name])
		switch {
		case base != nil:
			t.add(append(row(s), number("%.2f", s.times(base)))...)
		case s.units == links:
			t.add(append(row(s), "–")...)
		}
	}
	return t
}

// shareTable says who used the CPU time of a job.
func shareTable(all []sample, where string) table {
	t := table{
		title: "Where a job's CPU goes, on " + where,
		note: "Milliseconds per job. The viewer is the command that was called, with the step between it and the engine; the engine's own process is what its process table entry says; " +
			"the program itself is what fork/exec costs beside it (in the same rounds); the supervisors are the rest. Start-up and planning of the run are included in the first two.",
		head: []string{"run", "whole", "viewer", "engine", "supervisors", "program"},
	}
	for _, name := range []string{at("orchestrate", 2), at("orchestrate", 8), at("orchestrate wide", 8), "orchestrate chain"} {
		s, floor := find(all, name), find(all, at("fork/exec", 2))
		if strings.HasSuffix(name, at("", 8)) {
			floor = find(all, at("fork/exec", 8))
		}
		whole, program := s.cpuPerUnit(), floor.cpuPerUnit()
		viewer, engine := s.perUnit(cost.viewer), s.perUnit(func(c cost) float64 { return c.Engine.Own })
		t.add(name, number("%.2f", whole), number("%.2f", viewer), number("%.2f", engine), number("%.2f", whole-viewer-engine-program), number("%.2f", program))
	}
	return t
}
