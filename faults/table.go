//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orchestrate/faults/campaign"
	"orchestrate/internal/failpoint"
)

// sum prints what the campaign came to, and says what was not as it must be.
func (d *driver) sum(took time.Duration) error {
	d.print()
	var counts []string
	for _, k := range campaign.Kinds {
		counts = append(counts, fmt.Sprintf("%d %s", d.faults[k], k))
	}
	fmt.Printf("\n%d kills in %d rounds, %s: %s\n", d.done, d.rounds, took.Round(time.Second), strings.Join(counts, ", "))
	var rare []string
	for _, name := range failpoint.Names {
		if d.planner.Shares()[name].Hits < d.each {
			rare = append(rare, name)
		}
	}
	switch {
	case d.broken > 0:
		return brokenError{d.broken, d.work}
	case len(rare) > 0:
		return fmt.Errorf("not hit %d times: %s", d.each, strings.Join(rare, ", "))
	case d.done < d.kills:
		return fmt.Errorf("only %d kills of %d", d.done, d.kills)
	}
	return nil
}

// brokenError says that what must be true of every run was not.
type brokenError struct {
	rounds int
	work   string
}

func (e brokenError) Error() string {
	return fmt.Sprintf("%d rounds are broken; their folders are in %s", e.rounds, e.work)
}

func (d *driver) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nfailpoint\thits\t")
	for _, v := range campaign.Victims {
		fmt.Fprintf(w, "%s\t", v)
	}
	fmt.Fprintln(w)
	for _, name := range append(slices.Clone(failpoint.Names), campaign.AnyTime) {
		s := d.planner.Shares()[name]
		if name == campaign.AnyTime {
			name = "any time"
		}
		fmt.Fprintf(w, "%s\t%d\t", name, s.Hits)
		for _, v := range campaign.Victims {
			fmt.Fprintf(w, "%d\t", s.Kills[v])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // nobody to tell
}
