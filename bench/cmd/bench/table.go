//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// table is a Markdown table with a heading and what must be known to read it.
type table struct {
	title string
	note  string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table in Markdown.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", t.title)
	if t.note != "" {
		fmt.Fprintf(&b, "%s\n\n", t.note)
	}
	if len(t.rows) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
	for _, r := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

// machine says where and when the figures were taken.
func machine(rounds int) string {
	load := "unknown"
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(data), " ")
	}
	return fmt.Sprintf("%s/%s, %d CPUs, %s; medians of %d interleaved rounds; load average at the end %s (other work on the machine raises wall time, CPU time little).",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), rounds, load)
}

func number(format string, v float64) string { return fmt.Sprintf(format, v) }
