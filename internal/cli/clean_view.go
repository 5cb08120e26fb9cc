package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/untrusted"
)

// leftoversView shows a person what runs have left. Names on disk may be anybody's.
type leftoversView struct {
	w   io.Writer
	now time.Time
}

// list prints all leftovers, those of one run together, and what they come to.
func (v leftoversView) list(l reclaim.Listing) {
	if len(l.Items) == 0 {
		fmt.Fprintf(v.w, "no run has left anything in %s\n", oneLine(l.Root))
	} else {
		v.table(l)
		fmt.Fprintf(v.w, "\n%d left, %s; ", len(l.Items), size(l.Bytes))
		if going(l) == 0 {
			fmt.Fprintln(v.w, "none of it may go")
		} else {
			fmt.Fprintf(v.w, "of that may go: %s\n", amount(l))
		}
	}
	for _, n := range l.Notes {
		fmt.Fprintf(v.w, "note: %s\n", oneLine(n))
	}
}

// table aligns the rows of all runs, and puts a head before those of each.
func (v leftoversView) table(l reclaim.Listing) {
	items := folded(byRun(l.Items))
	var rows bytes.Buffer
	t := tabwriter.NewWriter(&rows, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  WHAT\tSIZE\tAGE\tSTATE\tFATE\tWHY")
	for _, i := range items {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\n", i.what(l.Root), orDash(sizeOf(i.Item)), orDash(age(v.now, i.At)), show(stateOf(i.Item)), fateOf(i.Item), oneLine(i.Why))
	}
	t.Flush() //nolint:errcheck // a buffer takes everything
	lines := strings.SplitAfter(rows.String(), "\n")
	io.WriteString(v.w, lines[0]) //nolint:errcheck // the outlet remembers
	for n, i := range items {
		if n == 0 || items[n-1].Run != i.Run {
			v.head(i)
		}
		io.WriteString(v.w, lines[n+1]) //nolint:errcheck // the outlet remembers
		if n+1 == len(items) || items[n+1].Run != i.Run {
			v.next(items[:n+1], i.Run)
		}
	}
}

func (v leftoversView) head(i leftover) {
	switch {
	case i.Run == "":
		fmt.Fprintln(v.w, "of no run that is known here")
	case i.calls > 0:
		fmt.Fprintf(v.w, "worker run %s\n", oneLine(i.Run))
	default:
		fmt.Fprintf(v.w, "run %s\n", oneLine(i.Run))
	}
}

// leftover is a line of the table.
type leftover struct {
	reclaim.Item
	calls int // of a worker run, whose run directories it stands for; 0 = it is one leftover
}

func (i leftover) what(root string) string {
	if i.calls > 0 {
		return fmt.Sprintf("run directories of %d calls", i.calls)
	}
	return whatOf(i.Item, root)
}

// folded makes one line of the calls of a worker run that left nothing but a run directory
// that is kept for the same reason: there may be hundreds.
func folded(items []reclaim.Item) (rows []leftover) {
	alone := map[string]int{} // leftovers by run
	for _, i := range items {
		alone[i.Run]++
	}
	at := map[string]int{} // the line of those that are alike
	for _, i := range items {
		run, call := ledger.CallOf(i.Run)
		if call == 0 || alone[i.Run] > 1 || i.Kind != reclaim.KindRun || i.Fate != reclaim.Keep || i.Next == "" {
			rows = append(rows, leftover{Item: i})
			continue
		}
		alike := strings.Join([]string{run, i.State, i.Why}, "\n")
		n, ok := at[alike]
		if !ok {
			at[alike] = len(rows)
			rows = append(rows, leftover{Item: i})
			continue
		}
		rows[n] = rows[n].with(i, run)
	}
	return rows
}

// with is the line with the run directory of one more call of the worker run.
func (i leftover) with(other reclaim.Item, run string) leftover {
	if i.calls == 0 {
		i.calls, i.Run, i.Next = 1, run, i.Next+", and so each call by its id"
	}
	i.calls++
	i.Bytes += other.Bytes
	if other.At.After(i.At) {
		i.At = other.At
	}
	return i
}

// next says, once each, what would let go of what is kept of a run.
func (v leftoversView) next(items []leftover, run string) {
	const most = 4
	var all []string
	for _, i := range items {
		if i.Run == run && i.Next != "" && !slices.Contains(all, i.Next) {
			all = append(all, i.Next)
		}
	}
	for _, n := range all[:min(len(all), most)] {
		fmt.Fprintf(v.w, "  next: %s\n", oneLine(n))
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(v.w, "  next: %d more, of single leftovers: orchestrate clean --json\n", more)
	}
}

// byRun orders items: runs as they first come, calls of a worker run in their order where
// its first one comes, those of no run last.
func byRun(items []reclaim.Item) []reclaim.Item {
	first := map[string]int{"": len(items)}
	for n, i := range items {
		run, _ := ledger.CallOf(i.Run)
		if _, ok := first[run]; !ok {
			first[run] = n
		}
	}
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b reclaim.Item) int {
		run, call := ledger.CallOf(a.Run)
		other, later := ledger.CallOf(b.Run)
		return cmp.Or(first[run]-first[other], call-later)
	})
	return sorted
}

// howTo ends a listing of which nothing was removed.
func (v leftoversView) howTo(l reclaim.Listing, discard []string) {
	if going(l) == 0 {
		return
	}
	command := "orchestrate clean --yes"
	for _, d := range discard {
		command += " --discard " + oneLine(d)
	}
	fmt.Fprintf(v.w, "nothing was removed; to remove that: %s\n", command)
}

// went tells of one thing that Reclaim has come to.
func (v leftoversView) went(i reclaim.Item) {
	what := whatOf(i, "")
	if i.Run != "" {
		what += " of run " + oneLine(i.Run)
	}
	if !i.Done {
		fmt.Fprintf(v.w, "kept %s: %s\n", what, oneLine(i.Why))
		return
	}
	fmt.Fprintf(v.w, "removed %s\n", what)
	if i.Saved != "" {
		fmt.Fprintf(v.w, "  what it held is saved: %s\n", oneLine(i.Saved))
	}
}

// gone sums up what was removed.
func (v leftoversView) gone(l reclaim.Listing) {
	var n, saved int
	var bytes int64
	for _, i := range l.Items {
		if i.Done {
			n, bytes = n+1, bytes+i.Bytes
			if i.Saved != "" {
				saved++
			}
		}
	}
	fmt.Fprintf(v.w, "%d removed, %s freed\n", n, size(bytes))
	if saved > 0 {
		fmt.Fprintln(v.w, "take saved work back with `git cherry-pick REF` or `git apply FILE`; `git update-ref -d REF` lets go of it for good")
	}
}

// whatOf names an item: a run directory's content by its job, all else by where it is.
func whatOf(i reclaim.Item, root string) string {
	switch i.Kind {
	case reclaim.KindRun:
		return "run directory"
	case reclaim.KindBranch, reclaim.KindSalvage:
		return i.Kind + " " + oneLine(i.Branch)
	case reclaim.KindWorktree:
		if i.Job != "" && strings.Contains(filepath.ToSlash(i.Path), "/orchestrate-"+i.Run+"/") {
			return "worktree " + oneLine(filepath.Base(i.Path))
		}
	}
	place := i.Path
	if rel, err := filepath.Rel(root, i.Path); err == nil && root != "" && filepath.IsLocal(rel) {
		place = rel
	}
	if i.Kind == reclaim.KindPrivate {
		return "temporary files in " + oneLine(place)
	}
	return i.Kind + " " + oneLine(place)
}

func stateOf(i reclaim.Item) string {
	if i.Dirty > 0 {
		return fmt.Sprintf("%s, %d unsaved", i.State, i.Dirty)
	}
	return i.State
}

func fateOf(i reclaim.Item) string {
	if i.Done {
		return "removed"
	}
	return i.Fate
}

// amount says what may go: how much of which kind, and its size.
func amount(l reclaim.Listing) string {
	count := map[string]int{}
	for _, i := range l.Items {
		if i.Fate == reclaim.Remove {
			count[i.Kind]++
		}
	}
	var parts []string
	for _, k := range []struct{ kind, one, many string }{
		{reclaim.KindRun, "run directory", "run directories"},
		{reclaim.KindWorktree, "worktree", "worktrees"},
		{reclaim.KindBranch, "branch", "branches"},
		{reclaim.KindPrivate, "folder of temporary files", "folders of temporary files"},
		{reclaim.KindSalvage, "salvage ref", "salvage refs"},
	} {
		switch n := count[k.kind]; {
		case n == 1:
			parts = append(parts, "1 "+k.one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.many))
		}
	}
	return fmt.Sprintf("%s (%s)", strings.Join(parts, ", "), size(l.Removable))
}

func sizeOf(i reclaim.Item) string {
	if i.Path == "" {
		return ""
	}
	return size(i.Bytes)
}

// size is a number of bytes as a person reads it.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), 0
	for units := len("kMGTPE"); value >= 999.95 && unit < units; unit++ {
		value /= 1000
	}
	return fmt.Sprintf("%.1f %cB", value, " kMGTPE"[unit])
}

// age is how long ago something was, in its largest unit.
func age(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case at.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// oneLine shows text of others on a line.
func oneLine(s string) string { return untrusted.From(s).Line(0) }
