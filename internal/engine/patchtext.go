package engine

import "strings"

// A patch is read line by line. Only inside a hunk is the first byte a sign; a
// file's part begins with a head, and a binary file has encoded content in place of
// hunks.

type lineKind uint8

const (
	lineHead lineKind = iota // of a file's part, or of a hunk
	lineContext
	lineAdded
	lineDeleted
	lineBinary
)

// patchLine is one line of a patch.
type patchLine struct {
	number int // from 1
	text   string
	kind   lineKind
	starts bool       // it begins a file's part or a hunk
	file   *patchFile // whose part it is in
}

// patchFile is what a part's head says of its file.
type patchFile struct {
	line    int    // of its first line
	name    string // both names, as git wrote them
	added   bool
	deleted bool
	old     string // blob, "" when added
	new     string // blob, "" when deleted
	binary  bool
}

// patchLines reads a patch. A file is whole when its first line of content comes.
func patchLines(patch string, each func(patchLine)) {
	file, hunk, number := &patchFile{}, false, 0
	for text := range strings.Lines(patch) {
		number++
		l := patchLine{number: number, text: text}
		switch {
		case strings.HasPrefix(text, "diff --git "):
			file, hunk, l.starts = &patchFile{line: number, name: strings.TrimSpace(text[len("diff --git "):])}, false, true
		case file.binary:
			l.kind = lineBinary
		case strings.HasPrefix(text, "@@"):
			hunk, l.starts = true, true
		case hunk:
			l.kind = sign(text)
		default:
			file.head(strings.TrimSpace(text))
		}
		l.file = file
		each(l)
	}
}

func sign(text string) lineKind {
	switch text[0] {
	case '+':
		return lineAdded
	case '-':
		return lineDeleted
	}
	return lineContext
}

func (f *patchFile) head(text string) {
	switch name, rest, _ := strings.Cut(text, " "); {
	case strings.HasPrefix(text, "new file "):
		f.added = true
	case strings.HasPrefix(text, "deleted file "):
		f.deleted = true
	case name == "index":
		blobs, _, _ := strings.Cut(rest, " ")
		f.old, f.new, _ = strings.Cut(blobs, "..")
		if f.added {
			f.old = ""
		}
		if f.deleted {
			f.new = ""
		}
	case text == "GIT binary patch":
		f.binary = true
	}
}

// side keeps what a patch's wanted lines say, without their sign, and empties all
// others, so that line numbers stay those of the patch.
func side(patch string, wanted func(patchLine) bool) string {
	var b strings.Builder
	patchLines(patch, func(l patchLine) {
		switch {
		case !wanted(l) || l.text == "\n":
			b.WriteByte('\n')
		case l.kind == lineHead: // only a new file's first line: its name
			b.WriteString(l.file.name)
			b.WriteByte('\n')
		default:
			b.WriteString(l.text[1:])
		}
	})
	return b.String()
}

// whatIsAdded wants the lines that a patch adds and the names of new files.
func whatIsAdded(l patchLine) bool {
	return l.kind == lineAdded || l.kind == lineHead && l.file.added && strings.HasPrefix(l.text, "new file ")
}

func before(l patchLine) bool { return l.kind == lineContext || l.kind == lineDeleted }

func after(l patchLine) bool { return l.kind == lineContext || l.kind == lineAdded }

// hiding says what of a patch a copy for display must not show.
type hiding struct {
	lines  map[int]bool        // of these lines, what the redactor takes out
	hunks  map[int]bool        // all that is added by the hunks with these lines
	files  map[int]bool        // binary content of the files whose part begins with these lines
	all    bool                // all that is added
	redact func(string) string // of all lines
}

const hiddenLine = "[REDACTED:injected-secret]\n"

// display is the patch as it may be shown. What is binary was looked at as
// content; its encoding is not redacted, only left out.
func (h hiding) display(patch string) string {
	bad := h.badHunks(patch)
	var b, text strings.Builder
	flush := func() { // whole stretches of text, since a secret may go over lines
		b.WriteString(h.redact(text.String()))
		text.Reset()
	}
	begin := 0
	patchLines(patch, func(l patchLine) {
		if l.starts {
			begin = l.number
		}
		switch {
		case l.kind == lineBinary && h.files[l.file.line]:
		case l.kind == lineBinary:
			flush()
			b.WriteString(l.text)
		case l.kind == lineAdded && (h.all || bad[begin]):
			text.WriteString("+" + hiddenLine)
		case l.kind == lineHead && bad[begin] && !strings.HasPrefix(l.text, "@@") && hasName(l.text):
			text.WriteString(firstWord(l.text) + " " + hiddenLine)
		case h.lines[l.number]:
			text.WriteString(h.line(l.text))
		default:
			text.WriteString(l.text)
		}
	})
	flush()
	return b.String()
}

// line redacts one line; of a secret that goes over several, all of it.
func (h hiding) line(text string) string {
	if clean := h.redact(text[1:]); clean != text[1:] {
		return text[:1] + clean
	}
	return text[:1] + hiddenLine
}

// badHunks are the first lines of the hunks, and heads, to hide.
func (h hiding) badHunks(patch string) map[int]bool {
	bad, begin := map[int]bool{}, 0
	patchLines(patch, func(l patchLine) {
		if l.starts {
			begin = l.number
		}
		if h.hunks[l.number] {
			bad[begin] = true
		}
	})
	return bad
}

// hasName reports whether a line of a head names the file.
func hasName(text string) bool {
	return strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ")
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
