package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/figure"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// Frame is how a view is to be shown.
type Frame struct {
	Width, Height int
	Now           time.Time
	Colour        bool
	ASCII         bool // signs for a terminal that shows no others
	// At is the first row that is shown, negative = what moves is kept in sight.
	At   int
	Keys string // which keys do what, for the last line
}

// Following is the Frame.At of a view that keeps in sight what moves.
const Following = -1

// View draws the run: at most Height lines of at most Width columns. at is Frame.At as
// far as there are rows, first the first row that is shown, and page how many are.
func (l *Live) View(f Frame) (lines []string, at, first, page int) {
	if f.Width <= 0 || f.Height <= 0 {
		return nil, f.At, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.rows(f.Now)
	head, foot := l.head(f, rows), l.foot(f)
	head = head[:min(len(head), max(1, f.Height-len(foot)-3))]
	foot = foot[min(len(foot), max(0, len(foot)-max(0, f.Height-len(head)-2))):]
	page = max(0, f.Height-len(head)-len(foot))
	body, at, first := f.body(rows, page)
	lines = slices.Concat(head, body, foot)
	for i, s := range lines {
		lines[i] = f.signs(strings.TrimRight(cut(s, f.Width), " "))
	}
	return lines[:min(len(lines), f.Height)], at, first, page
}

// head says where the run stands as a whole.
func (l *Live) head(f Frame, rows []row) []string {
	first := fmt.Sprintf("run %s  %s", line(l.runID), l.state())
	if !l.began.IsZero() {
		first += "  " + l.lasted(f.Now)
	}
	jobs := rows
	if n := len(rows); n > 0 && rows[n-1].id == ledger.ArbiterJob {
		jobs = rows[:n-1]
	}
	counts := figure.Count(worked(jobs), "job") + ": " + tally(jobs)
	if n := unmet(jobs); n > 0 {
		counts += "; " + figure.Count(n, "pattern") + " not met"
	}
	if n := l.unneeded(); n > 0 {
		counts += fmt.Sprintf("; %d not needed", n)
	}
	all := []string{f.paint(first, bold), counts}
	if spent := l.spent(); spent != "" {
		all = append(all, spent)
	}
	return append(all, l.underWay(f.Now)...)
}

// worked counts the rows that somebody works on.
func worked(rows []row) (n int) {
	for _, r := range rows {
		if r.work {
			n++
		}
	}
	return n
}

// unmet counts the patterns that did not come to what was asked.
func unmet(rows []row) (n int) {
	for _, r := range rows {
		if !r.work && r.rank == 1 {
			n++
		}
	}
	return n
}

// state says in a word or two what the run does, and what a reader must not overlook.
func (l *Live) state() string {
	state := l.phase
	switch {
	case state == "":
		state = "beginning"
	case l.ended != nil:
		state += ": " + l.verdict
	case state == ledger.PhaseAwaiting:
		state = "awaits the hosting session"
	case l.stopping:
		state = "stopping"
	}
	var marks []string
	if l.rehearsal {
		marks = append(marks, "REHEARSAL")
	}
	if l.resumed != nil {
		marks = append(marks, "resumed")
	}
	if len(marks) > 0 {
		state += " (" + strings.Join(marks, ", ") + ")"
	}
	return state
}

// lasted says how long the run has gone on, or went.
func (l *Live) lasted(now time.Time) string {
	end, took := now, span
	if l.ended != nil {
		end, took = *l.ended, figure.Took
	}
	text := took(end.Sub(l.began))
	switch {
	case l.resumed != nil: // nobody worked on it for a part of that, and engines before used some of the budget
		text += ", " + took(end.Sub(*l.resumed)) + " since it was resumed"
	case l.out.Wall > 0:
		text += " of at most " + figure.Took(l.out.Wall)
	}
	return text
}

// spent says what all jobs reported, "" before one could have.
func (l *Live) spent() string {
	var u usage
	for _, j := range l.jobs {
		if !j.Program {
			u.plus(j.used)
		}
	}
	if !u.begun && l.out.USD == 0 && l.out.Tokens == 0 {
		return ""
	}
	if !u.begun {
		u.cost.said, u.in.said, u.out.said = 1, 1, 1 // nothing was begun: that is a known 0
	}
	text := fmt.Sprintf("tokens %s in, %s out", u.in.show(count), u.out.show(count))
	if l.out.Tokens > 0 {
		text += " (budget " + count(float64(l.out.Tokens)) + ")"
	}
	text += "  cost " + u.cost.show(dollars)
	if l.out.USD > 0 {
		text += " of " + dollars(l.out.USD)
	}
	switch n := u.cost.unknown; {
	case n == 1:
		text += "  (1 attempt did not say)"
	case n > 1:
		text += "  (" + figure.Count(n, "attempt") + " did not say)"
	}
	return text
}

// underWay are steps of the run itself, and runtimes that are held back.
func (l *Live) underWay(now time.Time) (all []string) {
	if l.phase == ledger.PhaseAwaiting {
		all = append(all, "nothing else can go on; next: "+handoff.NextCommand(l.runID))
	}
	for i, s := range l.steps {
		switch {
		case i > 0 && l.steps[i-1].name == s.name:
			all[len(all)-1] += ", " + strings.TrimPrefix(s.text(now), "asking ")
		default:
			all = append(all, s.text(now))
		}
	}
	var held []string
	for name, p := range l.paused {
		if !p.over(now) {
			held = append(held, p.text(name, now))
		}
	}
	slices.Sort(held)
	return append(all, held...)
}

// foot is what was said last, and the keys.
func (l *Live) foot(f Frame) (all []string) {
	said := slices.DeleteFunc(slices.Concat(l.notes, l.said), func(r remark) bool { return !r.stays && f.Now.Sub(r.at) > saidFor })
	slices.SortStableFunc(said, func(a, b remark) int { return a.at.Compare(b.at) })
	for _, r := range said[max(0, len(said)-saidLines):] {
		all = append(all, f.paint(cut(r.text, f.Width), yellow))
	}
	if f.Keys != "" {
		all = append(all, f.paint(cut(f.Keys, f.Width), faint))
	}
	return all
}

// body shows as many rows as there is room for.
func (f Frame) body(rows []row, page int) (lines []string, at, first int) {
	if page == 0 {
		return nil, f.At, 0
	}
	cols := f.columns(rows)
	if page > 2 {
		page--
		lines = append(lines, f.paint(cols.heading(), faint))
	}
	shown, more, at, first := f.choose(rows, page)
	for _, r := range shown {
		lines = append(lines, cols.show(f, r))
	}
	if more != "" {
		lines = append(lines, f.paint(more, faint))
	}
	for len(shown) < page && more == "" && len(lines) < page+1 {
		lines = append(lines, "") // the foot stays at the bottom
	}
	return lines, at, first
}

// choose takes the rows that are shown, and says in one line what is not.
func (f Frame) choose(rows []row, page int) (shown []row, more string, at, first int) {
	switch {
	case len(rows) <= page:
		return rows, "", min(f.At, 0), 0
	case f.At >= 0:
		at = min(f.At, len(rows)-max(1, page-1))
		end := min(len(rows), at+max(1, page-1))
		if page > 1 {
			more = fmt.Sprintf("rows %d to %d of %d; f: back to what moves", at+1, end, len(rows))
		}
		return rows[at:end], more, at, at
	}
	in := kept(rows, max(1, page-1))
	var out []row
	first = -1
	for i, r := range rows {
		if !in[i] {
			out = append(out, r)
			continue
		}
		if first < 0 {
			first = i
		}
		shown = append(shown, r)
	}
	if page > 1 {
		more = fmt.Sprintf("and %d more: %s", len(out), tally(out))
	}
	return shown, more, f.At, first
}

// kept marks the n rows that matter most, earlier ones first.
func kept(rows []row, n int) []bool {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rows[a].rank - rows[b].rank })
	in := make([]bool, len(rows))
	for _, i := range order[:n] {
		in[i] = true
	}
	return in
}

// columns are the widths of the parts of a row, 0 = it is not shown.
type columns struct{ id, status, time, tokens, cost, on, now int }

// The least widths that are of use, and the most that an id gets.
const (
	nowLeast = 20
	idMost   = 32
	idLeast  = 12
)

// columns gives every part what it needs and the last the rest; where that is too
// little the parts that the head has too go first.
func (f Frame) columns(rows []row) columns {
	c := columns{id: 3, status: len("interrupted"), time: 6, tokens: 9, cost: 7, on: len("RUNTIME")}
	for _, r := range rows {
		c.id = max(c.id, f.indent(r)+width(r.id))
		c.tokens, c.cost = max(c.tokens, width(r.tokens)), max(c.cost, width(r.cost))
		c.on = max(c.on, width(r.on))
	}
	c.id = min(c.id, max(idLeast, min(idMost, f.Width/4)))
	if c.on = min(c.on, 28); f.Width < 120 {
		c.on = 0
	}
	for _, least := range []*int{&c.on, &c.cost, &c.tokens, &c.time} {
		if c.rest(f.Width) >= nowLeast {
			break
		}
		*least = 0
	}
	c.now = max(0, c.rest(f.Width))
	return c
}

func (c columns) heading() string {
	return "  " + c.join(cell("JOB", c.id), cell("STATUS", c.status), right("TIME", c.time),
		right("TOKENS", c.tokens), right("COST", c.cost), cell("RUNTIME", c.on), cut("NOW", c.now))
}

// join puts the parts that are shown beside one another.
func (c columns) join(id, status, time, tokens, cost, on, now string) string {
	parts := []string{id, status}
	for _, p := range []struct {
		width int
		text  string
	}{{c.time, time}, {c.tokens, tokens}, {c.cost, cost}, {c.on, on}, {c.now, now}} {
		if p.width > 0 {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, " ")
}

func (c columns) show(f Frame, r row) string {
	sign, colour := f.sign(r.status)
	id := strings.Repeat(" ", f.indent(r))
	id += middle(r.id, c.id-len(id))
	now := r.now
	if now == "" && c.on == 0 {
		now = r.on
	}
	if r.time == "" && width(now) > c.now { // what it waits for needs the room of the figures that it has not
		c = columns{id: c.id, status: c.status}
		c.now = max(0, c.rest(f.Width))
	}
	return f.paint(sign, colour) + " " + c.join(cell(id, c.id), f.paint(cell(r.status, c.status), colour), right(r.time, c.time),
		right(r.tokens, c.tokens), right(r.cost, c.cost), cell(r.on, c.on), cut(now, c.now))
}

// rest is what the others leave to the last column, less than 0 = they are too wide.
func (c columns) rest(width int) int {
	n := width - len("x ")
	for _, w := range []int{c.id, c.status, c.time, c.tokens, c.cost, c.on} {
		if w > 0 {
			n -= w + 1
		}
	}
	return n
}

// indent is by how much a row is moved to the right: by its layer, as far as that can
// be told apart.
func (f Frame) indent(r row) int { return min(r.layer, 4) }

func (f Frame) sign(status string) (sign, colour string) {
	for _, s := range statuses {
		if s.name != status {
			continue
		}
		if f.ASCII {
			return s.ascii, s.colour
		}
		return s.sign, s.colour
	}
	return " ", ""
}

// signs leaves out the one sign beyond ASCII that is in a line whoever made it: that of
// what was cut off.
func (f Frame) signs(s string) string {
	if f.ASCII {
		return strings.ReplaceAll(s, cutOff, "~")
	}
	return s
}

// Styles beside the colours.
const (
	bold  = "1"
	faint = "2"
)

// paint shows a text in a colour or style, where colours are wanted.
func (f Frame) paint(s, style string) string {
	if !f.Colour || style == "" || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}
