package pattern

import (
	"fmt"

	"github.com/theory/jsonpath"
)

// Path is a JSONPath (RFC 9535).
type Path struct{ of *jsonpath.Path }

// ParsePath reads a JSONPath; a plain name is that field of the document.
func ParsePath(text string) (Path, error) {
	if text != "" && text[0] != '$' {
		text = "$." + text
	}
	p, err := jsonpath.Parse(text)
	if err != nil {
		return Path{}, fmt.Errorf("%q is no JSONPath: %w", text, err)
	}
	return Path{p}, nil
}

// Select is what the path finds in a decoded JSON document, in its order.
func (p Path) Select(doc any) []any { return p.of.Select(doc) }

// Single reports whether it can find one thing at most: it has no wildcard, range or filter.
func (p Path) Single() bool { return p.of.Query().Singular() != nil }
