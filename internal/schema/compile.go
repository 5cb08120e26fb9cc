// Package schema checks values against the part of JSON Schema (draft 2020-12)
// that this program's own schemas use. A schema with any other keyword is refused
// when it is compiled, so none is ever passed over.
//
// It is here because the library for all of JSON Schema takes four milliseconds of
// every start of a program that links it, used or not. A test holds the two
// against each other.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root *node
	raw  map[string]any
}

// node is one schema of the document.
type node struct {
	raw        map[string]any
	ref        *node
	types      []string
	enum       []any
	constant   any // nil: not said
	pattern    *regexp.Regexp
	required   []string
	properties map[string]*node
	items      *node
	closed     bool               // additionalProperties or unevaluatedProperties: false
	bounds     map[string]float64 // of the numeric keywords that are there
}

// Compile reads a schema.
func Compile(text []byte) (*Schema, error) {
	var raw map[string]any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	c := compiler{root: raw, done: map[string]*node{}}
	root, err := c.node(raw, "#")
	if err != nil {
		return nil, err
	}
	return &Schema{root: root, raw: raw}, nil
}

// MustCompile is Compile for schemas that are part of the program: a fault in one
// is a fault of the build.
func MustCompile(text []byte) *Schema {
	s, err := Compile(text)
	if err != nil {
		panic("embedded schema: " + err.Error())
	}
	return s
}

// Raw is the schema document as JSON values, not to be changed.
func (s *Schema) Raw() map[string]any { return s.raw }

type compiler struct {
	root map[string]any
	done map[string]*node // by location, so that references may go in circles
}

func (c *compiler) node(raw map[string]any, at string) (*node, error) {
	if n, ok := c.done[at]; ok {
		return n, nil
	}
	n := &node{raw: raw, bounds: map[string]float64{}}
	c.done[at] = n
	for keyword, v := range raw {
		if err := c.keyword(n, keyword, v, at); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", at, keyword, err)
		}
	}
	return n, nil
}

// keyword takes one keyword of a schema.
func (c *compiler) keyword(n *node, keyword string, v any, at string) (err error) {
	switch keyword {
	case "$schema", "title", "description", "default", "$defs": // say nothing about the value
	case "$ref":
		n.ref, err = c.reference(v)
	case "type":
		n.types, err = texts(v)
	case "enum":
		n.enum, err = as[[]any](v)
	case "const":
		n.constant = v
	case "pattern":
		var text string
		if text, err = as[string](v); err == nil {
			n.pattern, err = regexp.Compile(text)
		}
	case "required":
		n.required, err = texts(v)
	case "properties":
		err = c.properties(n, v, at)
	case "items":
		var raw map[string]any
		if raw, err = as[map[string]any](v); err == nil {
			n.items, err = c.node(raw, at+"/items")
		}
	case "additionalProperties", "unevaluatedProperties":
		var open bool
		open, err = as[bool](v)
		n.closed = n.closed || !open
	case "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems":
		n.bounds[keyword], err = as[float64](v)
	default:
		err = fmt.Errorf("this keyword is not supported")
	}
	return err
}

func (c *compiler) properties(n *node, v any, at string) error {
	all, err := as[map[string]any](v)
	if err != nil {
		return err
	}
	n.properties = map[string]*node{}
	for name, p := range all {
		raw, err := as[map[string]any](p)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if n.properties[name], err = c.node(raw, at+"/properties/"+name); err != nil {
			return err
		}
	}
	return nil
}

// reference follows "#/$defs/NAME", the only form there is.
func (c *compiler) reference(v any) (*node, error) {
	text, err := as[string](v)
	if err != nil {
		return nil, err
	}
	name, ok := strings.CutPrefix(text, "#/$defs/")
	defs, _ := c.root["$defs"].(map[string]any)
	raw, known := defs[name].(map[string]any)
	if !ok || !known {
		return nil, fmt.Errorf("there is no schema %q in $defs", text)
	}
	return c.node(raw, text)
}

// property finds what is said of a key, here or in the schema referred to.
func (n *node) property(key string) bool {
	for ; n != nil; n = n.ref {
		if _, ok := n.properties[key]; ok {
			return true
		}
	}
	return false
}

func as[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("found %T", v)
	}
	return t, nil
}

// texts reads a text or a list of them.
func texts(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		return []string{s}, nil
	}
	list, err := as[[]any](v)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range list {
		s, err := as[string](item)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out, nil
}
