package planner

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"orchestrate/internal/untrusted"
)

// Outline is what a planner is told of the workspace: names and sizes, never what is in a
// file.
type Outline struct {
	Git     string // its state in words, "" = the workspace is no repository
	Partial bool   // there is more, which was not looked at

	files, bytes int64
	top          map[string]*share
	kinds        map[string]*share
}

// share is how much of the workspace something is.
type share struct {
	dir          bool
	files, bytes int64
}

func (s *share) add(size int64) { s.files++; s.bytes += size }

// Add takes in a file (slashes, from the workspace root). What is hidden is left out.
func (o *Outline) Add(name string, size int64) {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return
		}
	}
	o.files++
	o.bytes += size
	first, _, deeper := strings.Cut(name, "/")
	of(&o.top, first, deeper).add(size)
	of(&o.kinds, cmp.Or(strings.ToLower(path.Ext(name)), "no extension"), false).add(size)
}

func of(all *map[string]*share, name string, dir bool) *share {
	if *all == nil {
		*all = map[string]*share{}
	}
	if (*all)[name] == nil {
		(*all)[name] = &share{dir: dir}
	}
	return (*all)[name]
}

// Bounds of what is told.
const (
	mostTop   = 60
	mostKinds = 15
)

// String tells it in lines.
func (o *Outline) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cmp.Or(o.Git, "no git repository, so no job can have a worktree: writers run one after the other"))
	fmt.Fprintf(&b, "%d files, %s", o.files, size(o.bytes))
	if o.Partial {
		b.WriteString(", and more that were not counted")
	}
	b.WriteString(" (hidden and ignored ones are left out)\n\nAt the top:\n")
	listed(&b, o.top, mostTop, func(a, b string) int { return cmp.Compare(a, b) })
	b.WriteString("\nBy extension:\n")
	listed(&b, o.kinds, mostKinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(o.kinds[b].files, o.kinds[a].files), cmp.Compare(a, b))
	})
	return b.String()
}

func listed(b *strings.Builder, all map[string]*share, most int, order func(a, b string) int) {
	names := slices.SortedFunc(maps.Keys(all), order)
	for i, name := range names {
		if i == most {
			fmt.Fprintf(b, "- and %d more\n", len(names)-most)
			return
		}
		s, shown := all[name], untrusted.From(name).Line(100)
		switch {
		case s.dir:
			fmt.Fprintf(b, "- %s/: %d files, %s\n", shown, s.files, size(s.bytes))
		case s.files == 1:
			fmt.Fprintf(b, "- %s: %s\n", shown, size(s.bytes))
		default:
			fmt.Fprintf(b, "- %s: %d files, %s\n", shown, s.files, size(s.bytes))
		}
	}
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
