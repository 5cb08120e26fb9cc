package ui

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// Jobs of patterns: what an item is, which were not needed, what was gathered.

// itemLimit bounds an item where it is shown, in runes.
const itemLimit = 40

// Item is an item of a list in a short line: a text as it is, else its JSON.
func Item(value json.RawMessage) string {
	var text string
	if len(value) > 0 && json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	return untrusted.From(text).Line(itemLimit)
}

// expanded takes in a list that another job made.
func (l *Live) expanded(r ledger.Record) {
	if r.Expanded == nil {
		return
	}
	for _, id := range l.order {
		if j := l.jobs[id]; j.List == r.Expanded.Of && 0 < j.Number && j.Number <= len(r.Expanded.Items) {
			j.Item = Item(r.Expanded.Items[j.Number-1])
		}
	}
}

// named is a job's id with its item, where the id does not say it.
func (j *liveJob) named() string {
	id := line(j.ID)
	if j.Item == "" || strings.HasSuffix(id, "-"+j.Item) {
		return id
	}
	return id + " (" + j.Item + ")"
}

// unneeded counts the jobs that turned out not to be needed.
func (l *Live) unneeded() (n int) {
	for _, j := range l.jobs {
		if j.status == ledger.Skipped {
			n++
		}
	}
	return n
}

// skips are jobs that were not needed, told together: a list may be much shorter than it
// could have been.
type skips struct {
	ids []string
	why string // of the first
}

// add keeps a record of such a job.
func (s *skips) add(r ledger.Record) {
	if s.ids = append(s.ids, r.Job); len(s.ids) == 1 {
		s.why = r.Text.Line(lineLimit)
	}
}

// text tells of them, "" where there are none.
func (s *skips) text() string {
	n := len(s.ids)
	if n == 0 {
		return ""
	}
	which := line(s.ids[0])
	if n > 1 {
		which += " … " + line(s.ids[n-1])
	}
	text := fmt.Sprintf("%-20s %s not needed", which, figure.Count(n, "job"))
	if s.why != "" {
		text += ": " + s.why
	}
	*s = skips{}
	return text
}

// same are jobs that are blocked by what blocked the one told last: all jobs of a list that
// cannot be used are.
type same struct {
	as  ledger.Record // the one that was told; its zero value = none
	ids []string
}

// first keeps the record that was told last.
func (s *same) first(r ledger.Record) { s.as = r }

// more keeps a record of such a job, and reports whether it is one.
func (s *same) more(r ledger.Record) bool {
	blocked := r.Kind == ledger.KindSettled && r.Status == ledger.Blocked && r.Attempt == 0
	if !blocked || s.as.Kind != r.Kind || s.as.Status != r.Status || s.as.Reason != r.Reason || !s.as.Text.Equal(r.Text) {
		return false
	}
	s.ids = append(s.ids, r.Job)
	return true
}

// text tells of them, "" where there are none.
func (s *same) text() string {
	n := len(s.ids)
	if n == 0 {
		return ""
	}
	which := line(s.ids[0])
	if n > 1 {
		which += " … " + line(s.ids[n-1])
	}
	text := fmt.Sprintf("%-20s %s more blocked: the same as %s", which, figure.Count(n, "job"), line(s.as.Job))
	*s = same{}
	return text
}

// listed is the line for a list that another job made.
func listed(r ledger.Record) string {
	if r.Expanded == nil {
		return ""
	}
	return fmt.Sprintf("%-20s its list has %s", line(r.Expanded.Of), figure.Count(len(r.Expanded.Items), "item"))
}

// cameTo is what follows the word success in a line: the item that a job was for, and what
// one that gathers came to.
func cameTo(s *ledger.JobStatus) string {
	text := ""
	if s == nil {
		return text
	}
	if item := Item(s.Item); item != "" && !strings.HasSuffix(s.ID, "-"+item) {
		text = " (" + item + ")"
	}
	if s.Decided != "" {
		text += ": " + line(s.Decided)
	}
	return text
}
