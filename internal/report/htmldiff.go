package report

import (
	"strconv"
	"strings"
)

// diffView is one file's part of a patch.
type diffView struct {
	Anchor  string
	Name    string // "" = what follows on something that was left out
	Note    string // what was left out before it
	Added   int
	Deleted int
	Groups  []diffGroup
}

// diffGroup is lines of one kind that stand together: add, del, hunk, head or "".
type diffGroup struct{ Kind, Text string }

// diff takes a patch apart, file by file.
func diff(patch string) (files []diffView) {
	hunk := false
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "diff --git ") {
			files, hunk = append(files, diffView{Name: gitName(line)}), false
		}
		if len(files) == 0 {
			files = append(files, diffView{})
		}
		f := &files[len(files)-1]
		hunk = hunk || strings.HasPrefix(line, "@@")
		kind := "head"
		if hunk {
			kind = lineKind(line)
		} else if name := headName(line); name != "" {
			f.Name = name
		}
		f.add(kind, line)
	}
	return files
}

// grouped is a patch's end, which begins somewhere in a hunk.
func grouped(tail string) []diffGroup {
	var f diffView
	for line := range strings.Lines(tail) {
		f.add(lineKind(line), line)
	}
	return f.Groups
}

func (f *diffView) add(kind, line string) {
	switch kind {
	case "add":
		f.Added++
	case "del":
		f.Deleted++
	}
	if n := len(f.Groups); n > 0 && f.Groups[n-1].Kind == kind {
		f.Groups[n-1].Text += line
		return
	}
	f.Groups = append(f.Groups, diffGroup{kind, line})
}

// lineKind is that of a line in a hunk, by its sign.
func lineKind(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "\\"):
		return "head"
	}
	return ""
}

// headName is the file's name as a line of a part's head tells it: the new one, or the
// old one of a file that is gone.
func headName(line string) string {
	line = strings.TrimRight(line, "\n")
	for _, lead := range []string{"--- ", "+++ ", "rename to "} {
		name, ok := strings.CutPrefix(line, lead)
		if !ok {
			continue
		}
		name = unquoted(strings.TrimSuffix(name, "\t"))
		if lead == "rename to " {
			return name
		}
		if _, name, ok = strings.Cut(name, "/"); ok && !strings.HasSuffix(line, lead+"/dev/null") {
			return name
		}
	}
	return ""
}

// gitName is the name in a part's first line, which has it twice.
func gitName(line string) string {
	both := strings.TrimSpace(strings.TrimPrefix(line, "diff --git "))
	one := unquoted(both[:len(both)/2])
	if _, name, ok := strings.Cut(one, "/"); ok {
		return name
	}
	return both
}

// unquoted undoes git's quoting of odd names.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}
