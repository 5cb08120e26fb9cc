package spec

import (
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// kind is what a tree node holds.
type kind int

const (
	kindNull kind = iota
	kindText
	kindNumber
	kindBool
	kindList
	kindMap
)

// spot is a place in the document, line and column from 1.
type spot struct{ line, col int }

// tree is a YAML document reduced to what JSON can say, with positions. Aliases
// share their anchor's tree, so that a document never grows while it is read.
type tree struct {
	kind   kind
	at     spot
	text   string
	number any // int64 or float64
	truth  bool
	block  bool // a literal block: its text starts on the line below at
	items  []*tree
	keys   []string
	fields map[string]*tree
	keyAt  map[string]spot
	size   float64 // nodes when every alias is written out
	item   int     // of a list, which was filled in into its text, from 1; 0 = none
}

const (
	// maxNodes bounds a document with its aliases written out, in values.
	maxNodes = 1_000_000
	// maxDepth bounds how deep lists and mappings nest; a spec needs 8.
	maxDepth = 64
)

// builder turns YAML nodes into a tree, once per node.
type builder struct {
	done   map[*yaml.Node]*tree
	open   map[*yaml.Node]bool
	nodes  int // as written, aliases not followed
	report func(at spot, rule, message string)
}

// build returns the tree of a node; what JSON cannot say is reported and null.
func (b *builder) build(n *yaml.Node) *tree {
	if n.Kind == yaml.AliasNode {
		return b.alias(n)
	}
	if t, ok := b.done[n]; ok {
		return t
	}
	t := &tree{at: spot{n.Line, n.Column}, size: 1}
	b.nodes++
	if n.Anchor != "" { // an alias may ask for it again
		defer func() { b.done[n] = t }()
	}
	if n.Kind == yaml.ScalarNode {
		b.scalar(n, t)
		return t
	}
	if len(b.open) == maxDepth {
		b.report(t.at, "depth", fmt.Sprintf("lists and mappings nest more than %d deep here; no field of a spec does", maxDepth))
		return t
	}
	b.open[n] = true
	switch n.Kind {
	case yaml.MappingNode:
		b.mapping(n, t)
	case yaml.SequenceNode:
		b.sequence(n, t)
	default:
		b.scalar(n, t)
	}
	delete(b.open, n)
	return t
}

// alias follows one alias; an alias inside its own anchor has no end.
func (b *builder) alias(n *yaml.Node) *tree {
	if n.Alias == nil || b.open[n.Alias] {
		b.report(spot{n.Line, n.Column}, "alias", fmt.Sprintf("the alias *%s is inside its own anchor; write the value out", n.Value))
		return &tree{at: spot{n.Line, n.Column}, size: 1}
	}
	return b.build(n.Alias)
}

func (b *builder) sequence(n *yaml.Node, t *tree) {
	b.tag(n, "!!seq")
	t.kind = kindList
	t.items = make([]*tree, 0, len(n.Content))
	for _, c := range n.Content {
		item := b.build(c)
		t.items = append(t.items, item)
		t.size += item.size
	}
}

func (b *builder) mapping(n *yaml.Node, t *tree) {
	b.tag(n, "!!map")
	t.kind = kindMap
	t.fields, t.keyAt = map[string]*tree{}, map[string]spot{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, at := n.Content[i], spot{n.Content[i].Line, n.Content[i].Column}
		value := b.build(n.Content[i+1])
		t.size += value.size
		switch {
		case key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge":
			b.report(at, "merge-key", "merge keys (<<) are not supported; shared job fields go under defaults")
		case key.Kind != yaml.ScalarNode:
			b.report(at, "key", "a key must be a plain word; found a list, a mapping or an alias")
		case t.fields[key.Value] != nil:
			b.report(at, "duplicate-key", fmt.Sprintf("the key %s is given twice; the first is on line %d: keep one", quote(key.Value), t.keyAt[key.Value].line))
		default:
			t.keys = append(t.keys, key.Value)
			t.fields[key.Value], t.keyAt[key.Value] = value, at
		}
	}
}

func (b *builder) scalar(n *yaml.Node, t *tree) {
	t.text = n.Value
	switch tag := n.ShortTag(); tag {
	case "!!null":
		t.kind = kindNull
	case "!!str":
		t.kind = kindText
		t.block = n.Style&yaml.LiteralStyle != 0
	case "!!bool":
		t.kind = kindBool
		if err := n.Decode(&t.truth); err != nil {
			b.report(t.at, "value", fmt.Sprintf("found %s; allowed: true or false", quote(n.Value)))
		}
	case "!!int", "!!float":
		t.kind = kindNumber
		b.number(n, t)
	case "!!timestamp":
		b.report(t.at, "date", fmt.Sprintf("found the unquoted date %s; put it in quotes if it is meant as text", quote(n.Value)))
		t.kind = kindText
	default:
		b.report(t.at, "tag", fmt.Sprintf("the YAML tag %s is not supported; remove it", quote(tag)))
		t.kind = kindText
	}
}

func (b *builder) number(n *yaml.Node, t *tree) {
	t.number = int64(0)
	if n.ShortTag() == "!!int" {
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			t.number = i
			return
		}
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		b.report(t.at, "value", fmt.Sprintf("found %s; allowed: a finite number", quote(n.Value)))
		return
	}
	t.number = f
}

// tag refuses explicit tags on collections, such as !!set.
func (b *builder) tag(n *yaml.Node, want string) {
	if got := n.ShortTag(); got != want {
		b.report(spot{n.Line, n.Column}, "tag", fmt.Sprintf("the YAML tag %s is not supported; remove it", quote(got)))
	}
}

// plain is the tree as the JSON value that a schema is checked against.
func (t *tree) plain() any {
	switch t.kind {
	case kindText:
		return t.text
	case kindNumber:
		return t.number
	case kindBool:
		return t.truth
	case kindList:
		out := make([]any, len(t.items))
		for i, c := range t.items {
			out[i] = c.plain()
		}
		return out
	case kindMap:
		out := make(map[string]any, len(t.keys))
		for _, k := range t.keys {
			out[k] = t.fields[k].plain()
		}
		return out
	}
	return nil
}

// words says what was found, for a message.
func (t *tree) words() string {
	switch t.kind {
	case kindText:
		return quote(t.text)
	case kindNumber:
		return "the number " + t.text
	case kindBool:
		return t.text
	case kindList:
		return "a list"
	case kindMap:
		return "a mapping"
	}
	return "nothing (null)"
}
