package cli

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/figure"
	"orchestrate/internal/history"
	"orchestrate/internal/history/statistics"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

type historyOptions struct {
	filter history.Filter
	since  string
	by     []string
	json   bool
}

func newHistory(sys System) *cobra.Command {
	opts := historyOptions{}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Sum up how the jobs of all runs here ended, took and cost",
		Long: `Sum up the finished jobs of all runs in this workspace: how many succeeded, with
the 95 % Wilson interval of that rate; how long they took and what they cost, as
what half (p50) and nine of ten (p90) of them stay below; why the others failed. Jobs
that a person or a death interrupted count in no rate. What a runtime did not report is
unknown. A filter may be given more than once, or as a list with commas.`,
		Example: `  orchestrate history
  orchestrate history --task review --since 30d --by model
  orchestrate history --runtime codex --status failed --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runHistory(sys, opts) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.filter.Runtimes, "runtime", nil, "only what this runtime did")
	f.StringSliceVar(&opts.filter.Models, "model", nil, "only what this model did")
	f.StringSliceVar(&opts.filter.Agents, "agent", nil, "only what this named agent did")
	f.StringSliceVar(&opts.filter.Tasks, "task", nil, "only jobs of this task")
	f.StringSliceVar(&opts.filter.Runs, "run", nil, "only jobs of this run, by its id")
	f.StringSliceVar(&opts.filter.Statuses, "status", nil, "only jobs that ended so: success, failed, blocked, interrupted")
	f.StringSliceVar(&opts.filter.Reasons, "reason", nil, "only jobs that ended for this reason, such as timeout")
	f.StringSliceVar(&opts.filter.Verdicts, "verdict", nil, "only jobs of runs with this verdict: pass, fail, blocked, unreviewed")
	f.StringVar(&opts.since, "since", "", "only jobs of runs that ended since then: 36h, 30d, 2026-07-30 or an RFC 3339 time")
	f.StringSliceVar(&opts.by, "by", []string{history.ByRuntime, history.ByModel, history.ByTask}, "what jobs are told apart by: runtime, model, agent, task; none = all together")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runHistory(sys System, opts historyOptions) error {
	if err := opts.settle(sys.Now); err != nil {
		return usageError(err)
	}
	root := workspaceRoot(sys)
	shown := history.NewTally(opts.filter, opts.by...)
	compared := history.NewTally(opts.filter, history.ByRuntime, history.ByModel, history.ByTask)
	read, err := history.Scan(root, 0, func(l history.Line) {
		shown.Add(l)
		compared.Add(l)
	})
	if err != nil {
		return failure(err)
	}
	file, err := filepath.Rel(root, history.Path(root))
	if err != nil {
		return failure(err)
	}
	s := history.Summary{
		SchemaVersion: ledger.SchemaVersion, File: filepath.ToSlash(file), Read: read, Filter: opts.filter, By: opts.by,
		Confidence: statistics.Confidence, QuantileType: 7, Groups: shown.Groups(), Total: shown.Total(),
		Suggestions: append([]string{}, history.Suggest(compared.Groups(), nil, nil)...),
	}
	if opts.json {
		return printJSON(sys.Out, s)
	}
	return showHistory(sys.Out, s)
}

// settle makes what was typed what is meant, and refuses words that can match nothing.
func (o *historyOptions) settle(now func() time.Time) error {
	if slices.Equal(o.by, []string{"none"}) {
		o.by = []string{}
	}
	for _, c := range []struct {
		flag         string
		given, known []string
	}{
		{"by", o.by, history.Keys()},
		{"status", o.filter.Statuses, []string{"success", "failed", "blocked", "interrupted"}},
		{"verdict", o.filter.Verdicts, []string{"pass", "fail", "blocked", "unreviewed"}},
	} {
		for _, word := range c.given {
			if !slices.Contains(c.known, word) {
				return fmt.Errorf("--%s %q is not one of %s", c.flag, word, strings.Join(c.known, ", "))
			}
		}
	}
	for _, list := range []*[]string{
		&o.filter.Runtimes, &o.filter.Models, &o.filter.Agents, &o.filter.Tasks, &o.filter.Runs,
		&o.filter.Statuses, &o.filter.Reasons, &o.filter.Verdicts,
	} {
		*list = append([]string{}, *list...) // a list in JSON too
	}
	if o.since == "" {
		return nil
	}
	since, err := pointBefore(now(), o.since)
	o.filter.Since = &since
	return err
}

// pointBefore reads a time, a date, or how long before now.
func pointBefore(now time.Time, text string) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n).UTC(), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("--since %q is no time; it takes 36h, 30d, 2026-07-30 or 2026-07-30T12:00:00Z", text)
}

func showHistory(w io.Writer, s history.Summary) error {
	if s.Read.Jobs == 0 {
		fmt.Fprintf(w, "no finished job is on record in %s\n", s.File)
	}
	defer sayLeftOut(w, s.Read)
	if s.Read.Jobs == 0 {
		return nil
	}
	if len(s.Groups) == 0 {
		fmt.Fprintf(w, "none of the %d jobs in %s is what was asked for\n", s.Read.Jobs, s.File)
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	head := strings.ToUpper(strings.Join(inOrder(s.By), "\t"))
	if head == "" {
		head = "JOBS"
	}
	fmt.Fprintf(t, "%s\tSUCCESS\tRATE\t95 %%\tTIME p50\tp90\tCOST p50\tp90\tCOST KNOWN\tATTEMPTS\tWHY NOT\tVERDICTS\n", head)
	for _, g := range s.Groups {
		fmt.Fprintln(t, strings.Join(append(keysOf(g, s.By), figures(g)...), "\t"))
	}
	if len(s.Groups) > 1 {
		keys := append([]string{"all"}, slices.Repeat([]string{""}, len(s.By)-1)...)
		fmt.Fprintln(t, strings.Join(append(keys, figures(s.Total)...), "\t"))
	}
	if err := t.Flush(); err != nil {
		return failure(err)
	}
	if n := s.Total.Interrupted; n > 0 {
		fmt.Fprintf(w, "%d interrupted: they count in no rate, time or cost\n", n)
	}
	for _, text := range s.Suggestions {
		fmt.Fprintf(w, "suggestion: %s\n", untrusted.From(text).Line(0))
	}
	return nil
}

func inOrder(by []string) (keys []string) {
	for _, k := range history.Keys() {
		if slices.Contains(by, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// keysOf are a group's first columns; what is not known of its jobs is a dash.
func keysOf(g history.Group, by []string) (cells []string) {
	for _, k := range inOrder(by) {
		value := map[string]*string{
			history.ByRuntime: g.Runtime, history.ByModel: g.Model, history.ByAgent: g.Agent, history.ByTask: g.Task,
		}[k]
		cells = append(cells, show(*value))
	}
	if cells == nil {
		cells = []string{"all"}
	}
	return cells
}

func figures(g history.Group) []string {
	cells := []string{fmt.Sprintf("%d/%d", g.Succeeded, g.N), "-", "-", "-", "-", "-", "-", "-", strconv.Itoa(g.Attempts), counted(g.Reasons), counted(g.Verdicts)}
	if g.Rate != nil {
		cells[1], cells[2] = fmt.Sprintf("%.0f %%", *g.Rate*100), g.Interval()
	}
	if d := g.DurationMs; d != nil {
		cells[3], cells[4] = lasting(d.P50), lasting(d.P90)
	}
	if c := g.CostUSD; c != nil {
		cells[5], cells[6] = fmt.Sprintf("$%.4f", c.P50), fmt.Sprintf("$%.4f", c.P90)
	} else if g.CostUnknown > 0 {
		cells[5], cells[6] = "unknown", "unknown"
	}
	known := 0
	if g.CostUSD != nil {
		known = g.CostUSD.N
	}
	if known+g.CostUnknown > 0 {
		cells[7] = fmt.Sprintf("%d/%d", known, known+g.CostUnknown)
	}
	return cells
}

// lasting is a duration of that many milliseconds in few digits.
func lasting(ms float64) string { return figure.Took(time.Duration(ms * float64(time.Millisecond))) }

// counted is "3 timeout, 1 crash", the most frequent first.
func counted(n map[string]int) string {
	words := slices.Sorted(maps.Keys(n))
	slices.SortStableFunc(words, func(a, b string) int { return n[b] - n[a] })
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", n[word], untrusted.From(word).Line(40))
	}
	return orDash(strings.Join(words, ", "))
}

// sayLeftOut says what of the file counts for nothing.
func sayLeftOut(w io.Writer, r history.Read) {
	for _, left := range []struct {
		n   int
		why string
	}{
		{r.Torn, "torn or not of a history"},
		{r.Unknown, "of a version that this program does not know"},
		{r.Rehearsals, "of rehearsals"},
	} {
		if left.n > 0 {
			fmt.Fprintf(w, "%s left out: %s\n", figure.Count(left.n, "line"), left.why)
		}
	}
}
