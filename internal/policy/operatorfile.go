package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// unreadable words what the YAML parser could not make an Operator of, each with its
// line.
func unreadable(name string, err error) error {
	var one *yaml.LoadError
	var many *yaml.LoadErrors
	switch {
	case errors.As(err, &many):
		var all []error
		for _, e := range many.Errors {
			all = append(all, atLine(name, e.Mark.Line, plainly(e.Message)))
		}
		return errors.Join(all...)
	case errors.As(err, &one):
		return atLine(name, one.Mark.Line, one.Message)
	}
	return fmt.Errorf("%s: the operator's configuration: %w", name, err)
}

// plainly takes the names of Go out of the parser's words.
func plainly(message string) string {
	if field, _, ok := strings.Cut(message, " not found in type "); ok {
		return "unknown key " + strings.TrimPrefix(field, "field ") + "; `orchestrate init` writes a file that explains those that there are"
	}
	return strings.NewReplacer("cannot construct", "cannot read", "custom.", "", "policy.", "").Replace(message)
}

func atLine(name string, line int, text string) error {
	if line < 1 {
		return fmt.Errorf("%s: %s", name, text)
	}
	return fmt.Errorf("%s:%d: %s", name, line, text)
}

// told finds the lines of what is wrong, and tells it in their order.
func told(name string, data []byte, mistakes []mistake) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return unreadable(name, err) // it was read before
	}
	slices.SortStableFunc(mistakes, func(a, b mistake) int {
		return cmp.Compare(lineOf(&doc, a.path), lineOf(&doc, b.path))
	})
	var all []error
	for _, m := range mistakes {
		all = append(all, atLine(name, lineOf(&doc, m.path), strings.Join(m.path, ".")+": "+m.text))
	}
	return errors.Join(all...)
}

// lineOf is where a key is, or the nearest of those around it that is there. The key of
// an entry of a list is its place in it, from 0.
func lineOf(at *yaml.Node, path []string) int {
	line := at.Line
	if at.Kind == yaml.DocumentNode {
		at = at.Content[0]
	}
	for _, key := range path {
		for at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		if i, err := strconv.Atoi(key); err == nil && at.Kind == yaml.SequenceNode && i < len(at.Content) {
			at = at.Content[i]
			line = at.Line
			continue
		}
		next := -1
		for i := 0; at.Kind == yaml.MappingNode && i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == key {
				next = i
			}
		}
		if next < 0 {
			return line
		}
		line, at = at.Content[next].Line, at.Content[next+1]
	}
	return line
}
