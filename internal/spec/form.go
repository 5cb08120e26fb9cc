package spec

import (
	"orchestrate/internal/schema"
)

// Form is a JSON document of another kind than a spec, which is read with positions and
// whose mistakes are said in the same words.
type Form struct {
	r    *reader
	root value
}

// FormKind is what a form is checked against.
type FormKind struct {
	Holds  string // what the document is, for messages, such as "a mapping with tasks"
	Limit  int    // most bytes that are read
	Schema *schema.Schema
}

// ReadForm reads a JSON document; name is its file's name for messages. All that is wrong
// with it, secrets included, is in Diagnostics.
func ReadForm(name string, data []byte, kind FormKind, secrets func(text string) []Secret) *Form {
	r := &reader{name: name, holds: kind.Holds, opt: Options{Secrets: secrets}, spoiled: map[string]bool{}, secretLines: map[int]bool{}}
	f := &Form{r: r}
	t := r.json(data, kind.Limit)
	if t != nil {
		f.root = value{t: t, near: spot{1, 1}}
		for _, fault := range kind.Schema.Check(t.plain()) {
			r.explain(f.root.locate(fault.At), fault)
		}
	}
	r.searchDocument(data, f.root)
	return f
}

// Plain is the document as nil, bool, string, int64, float64, []any and map[string]any; nil
// where it could not be read.
func (f *Form) Plain() any {
	if f.root.t == nil {
		return nil
	}
	return f.root.t.plain()
}

// Fail adds a mistake about the value that these keys and indexes lead to, unless one was
// said about it already.
func (f *Form) Fail(rule, message string, at ...string) {
	f.r.fail(f.root.locate(at), rule, message)
}

// Has reports whether there is anything but null at a place.
func (f *Form) Has(at ...string) bool { return f.root.locate(at).present() }

// Diagnostics are all mistakes so far, by position.
func (f *Form) Diagnostics() []Diagnostic {
	f.r.settle()
	return f.r.errors
}

// Place is where a value stands that these keys and indexes lead to, or what is nearest to
// it, with the path of it as messages name it.
func (f *Form) Place(at ...string) (Position, string) {
	v := f.root.locate(at)
	return Position{File: f.r.name, Line: max(1, v.at().line), Col: max(1, v.at().col)}, v.path
}
