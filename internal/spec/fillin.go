package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/pattern"
)

// filler fills an item in into a text.
type filler func(text string, item json.RawMessage, number int) (string, error)

// filled are the fields that items are filled in into, and how.
var filled = []struct {
	key  string
	with filler
}{
	{"prompt", pattern.Fill},
	{"expected_output", pattern.Fill},
	{"cwd", pattern.FillPath},
	{"owned_paths", pattern.FillGlob},
	{"outputs", pattern.FillPath},
}

func isFilled(key string) bool {
	return slices.ContainsFunc(filled, func(f struct {
		key  string
		with filler
	},
	) bool {
		return f.key == key
	})
}

// fields are those of one job that a document's job stands for, without its patterns.
func (x *expander) fields(s *source, g group, id string, refs map[string]*tree) value {
	changes := map[string]*tree{"id": textAt(s.own.field("id").at(), id)}
	for _, kind := range kinds {
		changes[kind] = nil
	}
	for key, t := range refs {
		changes[key] = t
	}
	own := s.own
	if g.item != nil {
		own = own.withDefaults(x.def, "expected_output", "cwd", "owned_paths", "outputs")
		for _, f := range filled {
			if v := own.field(f.key); v.present() && g.item.Value != nil {
				changes[f.key] = x.fill(s, v, g.item, f.with)
			}
		}
	}
	return own.with(changes)
}

// fill is a value with an item filled in into its texts, nil where there is none.
func (x *expander) fill(s *source, v value, item *Item, with filler) *tree {
	if v.t == nil { // a mapping without a path, which is said where outputs are checked
		return nil
	}
	switch v.t.kind {
	case kindText:
		if x.filled > maxFilled {
			return v.t // tooLarge says so
		}
		text, err := with(v.t.text, item.Value, item.Number)
		if err != nil {
			x.unfilled(s, v, item, err)
			return v.t
		}
		x.filled += len(text)
		if text == v.t.text {
			return v.t
		}
		to := *v.t
		to.text, to.item = text, item.Number
		return &to
	case kindList:
		to := *v.t
		to.items = make([]*tree, len(v.t.items))
		for i := range v.t.items {
			to.items[i] = x.fill(s, v.item(i), item, with)
		}
		return &to
	case kindMap: // of outputs
		return v.with(map[string]*tree{"path": x.fill(s, v.field("path"), item, with)}).t
	}
	return v.t
}

// unfilled reports a value that cannot stand in a path at the item, and anything else at
// the variable, where it is once for all items.
func (x *expander) unfilled(s *source, v value, item *Item, err error) {
	fault := &pattern.FillError{}
	if errors.As(err, &fault) && fault.Value {
		key := strings.TrimPrefix(v.path, s.own.path+".")
		x.failf(s.list.at.item(item.Number-1), "pattern", "in %s, %s", key, fault.Why)
		return
	}
	x.failInText(v, fault)
}

// failInText reports a fault at its place in a text of the document, once for the field.
func (r *reader) failInText(v value, fault *pattern.FillError) {
	place := lineCol(v.t.text, fault.Offset)
	to := *v.t
	to.at = r.within(v, place.line, place.col)
	if !v.t.block && to.at.line <= len(r.lines) { // not folded or escaped up to there, mostly
		from := []rune(r.lines[to.at.line-1])
		from = from[min(len(from), to.at.col-1):]
		name, _, _ := strings.Cut(v.t.text[fault.Offset:], "}}")
		if before, _, found := strings.Cut(string(from), name); found {
			to.at.col += len([]rune(before))
		}
	}
	v.t = &to
	r.fail(v, "variable", fault.Why)
}

// lineCol is a place in a text, both from 1, the column in characters.
func lineCol(text string, offset int) spot {
	before := text[:offset]
	line := strings.Count(before, "\n")
	return spot{line + 1, len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1}
}

// checkVariables checks what a job that is made for each item of a list says in its texts,
// whatever the items are: the variables where they are filled in, and that there are none
// elsewhere.
func (x *expander) checkVariables(s *source) {
	own := s.own.withDefaults(x.def, "expected_output", "cwd", "owned_paths", "outputs", "command", "checks", "worktree")
	for _, key := range own.t.keys {
		for _, v := range collect(own.field(key), nil) {
			switch {
			case key == PatternForeach:
			case isFilled(key):
				var fault *pattern.FillError
				if _, err := pattern.Variables(v.text()); errors.As(err, &fault) {
					x.failInText(v, fault)
				}
			default:
				x.noVariable(key, v)
			}
		}
	}
}

// noVariable reports a variable where none is filled in.
func (x *expander) noVariable(key string, v value) {
	found, ok := pattern.Mentions(v.text())
	if !ok {
		return
	}
	why := fmt.Sprintf("{{%s}} is not filled in here; allowed in prompt, prompt_file's text, cwd, owned_paths, outputs and expected_output", found.Name)
	if slices.Contains([]string{"command", "checks", "worktree", "worker"}, key) {
		why = fmt.Sprintf(`{{%s}} is not filled in into commands, where a value could be read as more than data; use "$ORCHESTRATE_ITEM", which every job of the list has in its environment`, found.Name)
	}
	x.failInText(v, &pattern.FillError{Offset: found.Offset, Why: why})
}

// maxFromFiles bounds the prompts that are made of files for all items, in bytes.
const maxFromFiles = 256 << 20

// fillFile is the text of a prompt file for the job's item.
func (r *reader) fillFile(v value, item *Item, f File) string {
	if item == nil {
		return f.Text
	}
	var err error
	text := f.Text
	if r.fromFiles > maxFromFiles {
		return text
	}
	if item.Value != nil {
		text, err = pattern.Fill(f.Text, item.Value, item.Number)
	} else {
		_, err = pattern.Variables(f.Text)
	}
	if text != f.Text {
		r.fromFiles += len(text)
	}
	if r.fromFiles > maxFromFiles {
		r.failf(v, "size", "the prompts that items are filled in into have more than %d bytes (256 MiB) together; shorten the file, or the list", maxFromFiles)
		return f.Text
	}
	var fault *pattern.FillError
	if errors.As(err, &fault) {
		at := lineCol(f.Text, fault.Offset)
		r.failf(v, "variable", "%s, line %d, column %d: %s", quote(filepath.ToSlash(f.Path)), at.line, at.col, fault.Why)
		return f.Text
	}
	return text
}
