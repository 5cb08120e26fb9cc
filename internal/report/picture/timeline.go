package picture

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"orchestrate/internal/figure"
)

// Measures of the timeline, in CSS pixels.
const (
	rowH    = 26
	barH    = 14
	plotAt  = 220 // where time begins, right of the ids
	plotW   = 740
	axisH   = 28
	farRows = 24 // with more rows than these the axis is below them, too
)

// span is the time that is shown.
type span struct{ from, to time.Time }

// extent is the time that is asked for, or that the rows take.
func extent(rows []Row, from, to time.Time) span {
	if !from.IsZero() && to.After(from) {
		return span{from, to}
	}
	for _, r := range rows {
		for _, s := range r.Spans {
			for _, t := range []time.Time{s.From, s.To} {
				if t.IsZero() {
					continue
				}
				if from.IsZero() || t.Before(from) {
					from = t
				}
				if t.After(to) {
					to = t
				}
			}
		}
	}
	if from.IsZero() || to.Before(from) {
		return span{from, from}
	}
	return span{from, to}
}

// x is where a moment is, held to what is shown.
func (s span) x(t time.Time) float64 {
	whole := s.to.Sub(s.from)
	if whole <= 0 {
		return plotAt
	}
	part := float64(t.Sub(s.from)) / float64(whole)
	return plotAt + plotW*min(max(part, 0), 1)
}

func drawTimeline(rows []Row, shown span) template.HTML {
	var b strings.Builder
	h := axisH + len(rows)*rowH + 8
	marks := ticks(shown.to.Sub(shown.from))
	for _, m := range marks {
		x := shown.x(shown.from.Add(m))
		fmt.Fprintf(&b, `<path class="tick" d="M%.1f %dV%d"/>`, x, axisH-6, h-4)
	}
	axis(&b, marks, shown, axisH-10)
	count, path := map[string]int{}, false
	for i, r := range rows {
		drawRow(&b, r, shown, axisH+i*rowH)
		count[last(r)]++
		path = path || r.OnPath
	}
	if len(rows) > farRows {
		h += 18
		axis(&b, marks, shown, h-6)
	}
	desc := fmt.Sprintf("%s in %s: %s. Each row is a job: a thin line while it waits, a bar per attempt.",
		figure.Count(len(rows), "job"), figure.Took(shown.to.Sub(shown.from)), sum(count))
	more := `<span><svg width="24" height="16" viewBox="0 0 24 16" aria-hidden="true"><path class="wait" d="M0 8H24"/></svg> waiting</span>`
	if path {
		more += `<span class="path-key">critical path</span>`
	}
	return template.HTML(frame("picture-timeline", "Timeline of the jobs", desc, Width, h, b.String(), legend(count, more)))
}

func axis(b *strings.Builder, marks []time.Duration, shown span, y int) {
	for _, m := range marks {
		fmt.Fprintf(b, `<text class="time" x="%.1f" y="%d">%s</text>`, shown.x(shown.from.Add(m)), y, figure.Took(m))
	}
}

// last is the state that a row came to.
func last(r Row) string {
	if len(r.Spans) == 0 {
		return "queued"
	}
	return r.Spans[len(r.Spans)-1].Class
}

func drawRow(b *strings.Builder, r Row, shown span, y int) {
	tells := tally(r, shown)
	class, says := "row s-"+word(last(r)), r.ID+": "+last(r)
	if tells != "" {
		says = r.ID + ": " + tells
	}
	if r.OnPath {
		class, says = class+" on-path", says+", on the critical path"
	}
	open, end := link(r.Href, fmt.Sprintf(`class="%s" data-row="%s"`, class, inert(r.ID)))
	fmt.Fprintf(b, `%s<title>%s</title><rect class="band" x="0" y="%d" width="%d" height="%d"/>`, open, inert(says), y, Width, rowH)
	b.WriteString(glyph(last(r), 16, y+rowH/2))
	fmt.Fprintf(b, `<text class="id" x="32" y="%d">%s</text>`, y+rowH/2+4, fit(r.ID, plotAt-46, idChar))
	for _, s := range r.Spans {
		drawSpan(b, s, shown, y)
	}
	fmt.Fprintf(b, `<text class="detail" x="%d" y="%d">%s</text>%s`, plotAt+plotW+12, y+rowH/2+4,
		fit(tells, Width-plotAt-plotW-14, plainChar), end)
}

func drawSpan(b *strings.Builder, s Span, shown span, y int) {
	from, to, ok := bounds(s, shown)
	if !ok {
		return
	}
	x1, x2 := shown.x(from), shown.x(to)
	title := ""
	if s.Title != "" {
		title = "<title>" + inert(s.Title) + "</title>"
	}
	if s.Class == "queued" {
		if x2 > x1 {
			fmt.Fprintf(b, `<path class="t-queued" d="M%.1f %dH%.1f">%s</path>`, x1, y+rowH/2, x2, title)
		}
		return
	}
	w := max(x2-x1, 3)
	x1 = min(x1, plotAt+plotW-w)
	fmt.Fprintf(b, `<rect class="t-%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2">%s</rect>`,
		word(s.Class), x1, y+(rowH-barH)/2, w, barH, title)
}

// bounds are when a span began and ended; a clock that was set back makes no time
// less than none.
func bounds(s Span, shown span) (from, to time.Time, ok bool) {
	from, to = s.From, s.To
	if from.IsZero() {
		return from, to, false
	}
	if to.IsZero() {
		to = shown.to
	}
	if to.Before(from) {
		to = from
	}
	return from, to, true
}

// tally says in words how long a job worked, in how many attempts, and what it came to.
func tally(r Row, shown span) string {
	var worked time.Duration
	attempts := 0
	for _, s := range r.Spans {
		if from, to, ok := bounds(s, shown); ok && s.Class != "queued" {
			worked += to.Sub(from)
			attempts++
		}
	}
	var parts []string
	if attempts > 0 {
		parts = append(parts, figure.Took(worked))
	}
	if attempts > 1 {
		parts = append(parts, figure.Count(attempts, "attempt"))
	}
	if status := last(r); status != "success" {
		parts = append(parts, status)
	}
	return strings.Join(parts, ", ")
}
