package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fault is one way in which a value is not as its schema says.
type Fault struct {
	At      []string       // the keys and indexes that lead to the value
	Keyword string         // that it breaks; additionalProperties for any unknown key
	Keys    []string       // of required: what is missing; of additionalProperties: what is unknown
	Schema  map[string]any // the schema that holds the keyword
}

// String says where and what, for a reader who knows the schema.
func (f Fault) String() string {
	at := "at '/" + strings.Join(f.At, "/") + "': "
	switch f.Keyword {
	case "required":
		return at + "missing " + quoted(f.Keys)
	case "additionalProperties":
		return at + "unknown " + quoted(f.Keys)
	case "type":
		return at + fmt.Sprintf("not of type %v", f.Schema["type"])
	case "enum":
		return at + fmt.Sprintf("must be one of %v", f.Schema["enum"])
	}
	return at + fmt.Sprintf("%s is %v", f.Keyword, f.Schema[f.Keyword])
}

func quoted(keys []string) string { return "'" + strings.Join(keys, "', '") + "'" }

// Check returns every fault of a value made of nil, bool, string, int64, float64,
// []any and map[string]any. Unknown and missing keys come before the faults of
// what is inside, keys in alphabetical order.
func (s *Schema) Check(v any) []Fault {
	c := checker{}
	c.check(s.root, v)
	return c.faults
}

type checker struct {
	at     []step
	faults []Fault
}

// step is a key, or an index when the key is empty and index is not negative.
type step struct {
	key   string
	index int
}

func (c *checker) fault(n *node, keyword string, keys ...string) {
	f := Fault{At: []string{}, Keyword: keyword, Keys: keys, Schema: n.raw}
	for _, s := range c.at {
		if s.index >= 0 {
			f.At = append(f.At, strconv.Itoa(s.index))
		} else {
			f.At = append(f.At, s.key)
		}
	}
	c.faults = append(c.faults, f)
}

func (c *checker) check(n *node, v any) {
	if n.ref != nil {
		c.check(n.ref, v)
	}
	if n.types != nil && !slices.ContainsFunc(n.types, func(t string) bool { return hasType(v, t) }) {
		c.fault(n, "type")
		return
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(want any) bool { return same(v, want) }) {
		c.fault(n, "enum")
	}
	if n.constant != nil && !same(v, n.constant) {
		c.fault(n, "const")
	}
	switch v := v.(type) {
	case string:
		c.text(n, v)
	case []any:
		c.list(n, v)
	case map[string]any:
		c.object(n, v)
	default:
		if f, ok := number(v); ok {
			c.bound(n, f, "minimum", "maximum", "exclusiveMinimum")
		}
	}
}

func (c *checker) text(n *node, s string) {
	if n.pattern != nil && !n.pattern.MatchString(s) {
		c.fault(n, "pattern")
	}
	if len(n.bounds) > 0 {
		c.bound(n, float64(utf8.RuneCountInString(s)), "minLength", "maxLength", "")
	}
}

func (c *checker) list(n *node, items []any) {
	c.bound(n, float64(len(items)), "minItems", "maxItems", "")
	if n.items == nil {
		return
	}
	for i, item := range items {
		c.at = append(c.at, step{index: i})
		c.check(n.items, item)
		c.at = c.at[:len(c.at)-1]
	}
}

func (c *checker) object(n *node, fields map[string]any) {
	if unknown := n.unknown(fields); len(unknown) > 0 {
		c.fault(n, "additionalProperties", unknown...)
	}
	var missing []string
	for _, key := range n.required {
		if _, ok := fields[key]; !ok {
			missing = append(missing, key)
		}
	}
	if missing != nil {
		c.fault(n, "required", missing...)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if p, ok := n.properties[key]; ok {
			c.at = append(c.at, step{key: key, index: -1})
			c.check(p, fields[key])
			c.at = c.at[:len(c.at)-1]
		}
	}
}

func (n *node) unknown(fields map[string]any) (keys []string) {
	if !n.closed {
		return nil
	}
	for key := range fields {
		if !n.property(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// bound holds a figure against the keywords that bound it.
func (c *checker) bound(n *node, f float64, low, high, above string) {
	if limit, ok := n.bounds[low]; ok && f < limit {
		c.fault(n, low)
	}
	if limit, ok := n.bounds[high]; ok && f > limit {
		c.fault(n, high)
	}
	if limit, ok := n.bounds[above]; ok && f <= limit {
		c.fault(n, above)
	}
}

// hasType reports whether a value is of a type as JSON Schema names it. A number
// without a fraction is an integer however it is written.
func hasType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case int64:
		return name == "integer" || name == "number"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	}
	return false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// same compares two plain values; lists and mappings are never the same.
func same(v, want any) bool {
	if a, ok := number(v); ok {
		b, ok := number(want)
		return ok && a == b
	}
	switch v.(type) {
	case nil, bool, string:
		return v == want
	}
	return false
}
