package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxBytes bounds a spec, and each text file that it names.
const MaxBytes = 4 << 20

// document reads the bytes into a tree, or reports why it cannot. The tree is
// nil only when nothing more can be said about the document.
func (r *reader) document(data []byte) *tree {
	if len(data) > MaxBytes && !r.opt.Resolved { // which this program wrote, of a document that is bounded
		r.report(spot{1, 1}, "", "size", fmt.Sprintf("the document has %d bytes; at most %d (4 MiB) are read: move long text to prompt files", len(data), MaxBytes))
		return nil
	}
	if at, what := badText(data); what != "" {
		r.report(at, "", "encoding", what)
		return nil
	}
	node, ok := r.parse(data)
	if !ok {
		return nil
	}
	broken := false
	b := builder{done: map[*yaml.Node]*tree{}, open: map[*yaml.Node]bool{}}
	b.report = func(at spot, rule, message string) {
		broken = broken || rule == "alias" || rule == "depth"
		r.report(at, "", rule, message)
	}
	root := b.build(node)
	if root.size > maxNodes && !r.opt.Resolved {
		r.tooMany(root, b.nodes)
		return nil
	}
	if broken {
		return nil
	}
	if root.kind != kindMap {
		r.report(root.at, "", "type", fmt.Sprintf("found %s; allowed: %s", root.words(), r.holds))
		return nil
	}
	return root
}

// tooMany reports a document that is larger than it looks, or just too large.
func (r *reader) tooMany(root *tree, written int) {
	if written > maxNodes {
		r.report(root.at, "", "size", fmt.Sprintf("the document has %d values; at most %d are read: split the spec", written, maxNodes))
		return
	}
	r.report(root.at, "", "alias", fmt.Sprintf("the aliases (*name) of this document stand for more than %d values; write out what they stand for", maxNodes))
}

// parse loads exactly one YAML document.
func (r *reader) parse(data []byte) (*yaml.Node, bool) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) || (err == nil && len(doc.Content) == 0) {
		r.report(spot{1, 1}, "", "empty", "the document is empty; allowed: a mapping with version and jobs (orchestrate init writes a starter)")
		return nil, false
	} else if err != nil {
		r.syntax(err)
		return nil, false
	}
	switch err := loader.Load(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
		return nil, false
	default:
		r.report(spot{max(1, more.Line), max(1, more.Column)}, "", "documents", "a second YAML document starts here; a spec is one document: remove the --- line or split the file")
		return nil, false
	}
	return doc.Content[0], true
}

// syntax reports what the YAML parser could not read.
func (r *reader) syntax(err error) {
	at, message := spot{1, 1}, strings.TrimPrefix(err.Error(), "yaml: ")
	var load *yaml.LoadError
	if errors.As(err, &load) {
		message = load.Message
		if load.ContextMsg != "" {
			message += " (" + load.ContextMsg + ")"
		}
		if load.Mark.Line > 0 {
			at = spot{load.Mark.Line, max(1, load.Mark.Column)}
		}
	}
	if strings.Contains(message, "cannot start any token") {
		message += "; YAML indents with spaces, not tabs, and text that starts with @ or ` needs quotes"
	}
	r.report(at, "", "yaml", "not valid YAML or JSON: "+message)
}

// badText finds the first place that is not UTF-8 text.
func badText(data []byte) (spot, string) {
	at := spot{1, 1}
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return at, fmt.Sprintf("the byte 0x%02x is not UTF-8; save the file as UTF-8", data[i])
		case c == '\n':
			at = spot{at.line + 1, 0}
		case c < 0x20 && c != '\t' && c != '\r', c == 0x7f:
			return at, fmt.Sprintf("the control character 0x%02x is not allowed; remove it or write it as an escape in double quotes", c)
		}
		at.col++
		i += size
	}
	return at, ""
}
