package arbiter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orchestrate/internal/untrusted"
)

// section is a chapter of the evidence that can be made to fit. Its parts stand in the
// order of their weight.
type section struct {
	head  string // always there
	must  []assert
	parts []part
	texts []part
	where string // where the whole of it is
}

// part is one piece of a section: whole when there is room, else as much of it as makes
// sense, and nothing where not even that fits.
type part struct {
	need int
	fit  func(room int) string // never longer than room
}

// unbounded is room for anything.
const unbounded = 1 << 30

func fitted(fit func(int) string) part { return part{len(fit(unbounded)), fit} }

// words are shown whole or not at all.
func words(text string) part {
	return part{len(text), func(room int) string {
		if len(text) > room {
			return ""
		}
		return text
	}}
}

// floor is what a section needs at the least: its head, its assertions, and the words
// that it is not all there.
func (s section) floor() int { return len(s.head) + len(s.asserted(0)) + len(s.more()) }

// need is what it takes whole, or its floor where that is more.
func (s section) need() int { return max(s.whole(), s.floor()) }

func (s section) whole() int {
	n := len(s.head) + len(s.asserted(unbounded))
	for _, p := range slices.Concat(s.parts, s.texts) {
		n += p.need
	}
	return n
}

func (s section) more() string { return fmt.Sprintf("\n(Not all of it is shown; see %s.)\n", s.where) }

// fit writes the section into its room, which is at least its floor. Of what is left
// each part may have half, so that the parts of less weight are not crowded out; the
// texts share the rest, and what they leave goes back to the parts.
func (s section) fit(room int) string {
	if s.whole() <= room {
		return s.all()
	}
	more := s.more()
	left, names := room-len(s.head)-len(more), len(s.asserted(0))
	asserted := s.asserted(names + max(left-names, 0)/2)
	left = max(left-len(asserted), 0)
	parts := make([]string, len(s.parts))
	for i, p := range s.parts {
		parts[i] = p.fit(left / 2)
		left -= len(parts[i])
	}
	texts := share(s.texts, &left)
	for i, p := range s.parts {
		if len(parts[i]) < p.need {
			left += len(parts[i])
			parts[i] = p.fit(left)
			left -= len(parts[i])
		}
	}
	return s.head + asserted + strings.Join(parts, "") + texts + more
}

// all is the section with everything that is in it.
func (s section) all() string {
	var w strings.Builder
	w.WriteString(s.head + s.asserted(unbounded))
	for _, p := range slices.Concat(s.parts, s.texts) {
		w.WriteString(p.fit(unbounded))
	}
	return w.String()
}

// share writes texts into what is left, in equal shares.
func share(texts []part, left *int) string {
	needs := make([]int, len(texts))
	for i, t := range texts {
		needs[i] = t.need
	}
	var w strings.Builder
	for i, room := range shares(needs, *left) {
		w.WriteString(texts[i].fit(room))
	}
	*left -= w.Len()
	return w.String()
}

// asserted lists the assertions: their names always, of what they state what fits.
func (s section) asserted(room int) string {
	if len(s.must) == 0 {
		return ""
	}
	title := "\nAssertions for you to check:\n"
	needs, names := make([]int, len(s.must)), len(title)
	for i, a := range s.must {
		if a.statement != "" {
			needs[i] = len(": ") + len(a.statement)
		}
		names += len(a.item())
	}
	var w strings.Builder
	w.WriteString(title)
	for i, n := range shares(needs, max(room-names, 0)) {
		item := strings.TrimSuffix(s.must[i].item(), "\n")
		if n > len(": …") {
			item += ": " + clipped(s.must[i].statement, n-len(": "))
		}
		w.WriteString(item + "\n")
	}
	return w.String()
}

// item is an assertion by its name, in quotes as the answer has it.
func (a assert) item() string { return "- " + strconv.Quote(a.name) + "\n" }

// list is a titled list of items on one line each, in words of ours or of the spec.
func list(title string, items []string) part {
	return listed(items, func(body string) string { return fmt.Sprintf("\n%s:\n%s", title, body) })
}

// data is a titled list of items that hold words of a job: names that it chose, what
// it said of itself. They stand in a fence like all else it wrote.
func data(title string, items []string) part {
	return listed(items, func(body string) string { return fenced(title, "data", body) })
}

func listed(items []string, wrap func(string) string) part {
	if len(items) == 0 {
		return words("")
	}
	lines := make([]string, len(items))
	for i, s := range items {
		lines[i] = "- " + untrusted.From(s).Line(maxItem) + "\n"
	}
	whole := wrap(strings.Join(lines, ""))
	return part{len(whole), func(room int) string {
		if len(whole) <= room {
			return whole
		}
		return shrunk(room, room, func(n int) string { return wrapped(lines, n, wrap) })
	}}
}

// wrapped is as many items as fit into about n bytes, the first of them cut if need be.
func wrapped(lines []string, n int, wrap func(string) string) string {
	kept, size := 0, 0
	for kept < len(lines) && size+len(lines[kept]) <= n {
		size += len(lines[kept])
		kept++
	}
	body := strings.Join(lines[:kept], "")
	if kept == 0 {
		body, kept = clipped(strings.TrimSuffix(lines[0], "\n"), n)+"\n", 1
	}
	if kept < len(lines) {
		body += fmt.Sprintf("- … and %d more\n", len(lines)-kept)
	}
	return wrap(body)
}

// block is a titled text in a fence.
func block(title, label, text, where string) part {
	if text == "" {
		return words("")
	}
	text = untrusted.From(text).Block()
	whole := fenced(title, label, text)
	return part{len(whole), func(room int) string {
		if len(whole) <= room {
			return whole
		}
		return shrunk(room, len(text), func(n int) string { return fenced(title, label, cut(text, 0, n, where)) })
	}}
}

func fenced(title, label, text string) string {
	return fmt.Sprintf("\n%s:\n\n%s", title, untrusted.From(text).Fence(label))
}

// shortest is the least of a text that is worth its title and its fence.
const shortest = 16

// shrunk makes a text of at most n bytes shorter until what comes of it, with its
// title and its fence, fits; "" when nothing of use does. A fence grows with the runs
// of backticks in it, so that its length cannot be said before.
func shrunk(room, n int, write func(n int) string) string {
	for n = min(n, room); n >= shortest; {
		text := write(n)
		if len(text) <= room {
			return text
		}
		n = max(n-(len(text)-room), n/2)
	}
	return ""
}

// cut keeps the beginning and the end of a text in about n bytes and says what is left
// out; missing is how much of the whole is not in it, which is its end.
func cut(s string, missing int64, n int, where string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n && missing == 0 {
		return s
	}
	head, tail := s, ""
	if len(s) > n {
		head = wholeRunes(s[:n-n/3], true)
		if missing == 0 { // the end is known
			tail = wholeRunes(s[len(s)-n/3:], false)
		}
	}
	left := int64(len(s)-len(head)-len(tail)) + missing
	return fmt.Sprintf("%s\n[… %d bytes left out, the whole is in %s …]\n%s", head, left, where, tail)
}

// clipped is the beginning of one line in at most n bytes.
func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return wholeRunes(s[:max(n-len("…"), 0)], true) + "…"
}

// wholeRunes drops a rune that was cut at the end (or at the beginning).
func wholeRunes(s string, end bool) string {
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if end {
			r, n = utf8.DecodeLastRuneInString(s)
		}
		if r != utf8.RuneError || n != 1 {
			return s
		}
		if end {
			s = s[:len(s)-1]
		} else {
			s = s[1:]
		}
	}
	return s
}
