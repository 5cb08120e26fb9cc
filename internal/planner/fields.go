package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is what is told of a part of the spec's JSON Schema.
type node struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Ref         string          `json:"$ref"`
	Enum        []any           `json:"enum"`
	Default     any             `json:"default"`
	Required    []string        `json:"required"`
	Properties  map[string]node `json:"properties"`
	Items       *node           `json:"items"`
	Defs        map[string]node `json:"$defs"`
}

// Form is what a planner is told of the form of a spec.
type Form struct {
	Fields string   // one a line
	Tasks  []string // the task words
}

// FormOf tells the form of a spec from its JSON Schema: the same facts in less than half
// of the room, without what nobody may write.
func FormOf(schema []byte) (Form, error) {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return Form{}, fmt.Errorf("the schema of a spec: %w", err)
	}
	w := fieldWriter{defs: root.Defs}
	w.fields(root, "")
	return Form{Fields: w.String(), Tasks: words(root.Defs["fields"].Properties["task"].Enum)}, nil
}

type fieldWriter struct {
	strings.Builder
	defs map[string]node
}

// resolved is a node with what it refers to.
func (w *fieldWriter) resolved(n node) node {
	to, ok := w.defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	if !ok {
		return n
	}
	if n.Title == "" {
		n.Title = to.Title
	}
	if n.Description == "" {
		n.Description = to.Description
	}
	if n.Default == nil {
		n.Default = to.Default
	}
	if len(to.Properties) > 0 {
		all := map[string]node{}
		for _, from := range []map[string]node{to.Properties, n.Properties} {
			for k, v := range from {
				all[k] = v
			}
		}
		n.Properties = all
	}
	n.Required = append(slices.Clone(n.Required), to.Required...)
	return n
}

func (w *fieldWriter) fields(n node, indent string) {
	names := make([]string, 0, len(n.Properties))
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return boolInt(!slices.Contains(n.Required, a)) - boolInt(!slices.Contains(n.Required, b))
	})
	for _, name := range names {
		w.field(name, w.resolved(n.Properties[name]), slices.Contains(n.Required, name), indent)
	}
}

// reserved marks what no spec may say yet, written what only the program itself writes.
const (
	reserved = "#/$defs/reserved"
	written  = "a mapping that orchestrate writes"
)

func (w *fieldWriter) field(name string, n node, required bool, indent string) {
	if n.Ref == reserved || n.Title == written {
		return
	}
	fmt.Fprintf(w, "%s%s: %s", indent, name, n.Title)
	if required {
		w.WriteString(" (required)")
	}
	if said := words(n.Enum); len(said) > 0 {
		fmt.Fprintf(w, "; one of %s", strings.Join(said, ", "))
	}
	if n.Default != nil && n.Default != false {
		said, err := json.Marshal(n.Default)
		if err == nil {
			fmt.Fprintf(w, "; default %s", said)
		}
	}
	if n.Items != nil && len(n.Items.Properties) > 0 {
		fmt.Fprintf(w, "; each %s", n.Items.Title)
	}
	if n.Description != "" {
		fmt.Fprintf(w, ". %s", n.Description)
	}
	w.WriteByte('\n')
	if name == "defaults" { // the fields of a job, which are told there
		return
	}
	w.fields(n, indent+"  ")
	if n.Items != nil {
		w.fields(w.twice(*n.Items), indent+"  ")
	}
}

// twice resolves what refers to something that refers to something: a job.
func (w *fieldWriter) twice(n node) node {
	n = w.resolved(n)
	if to, ok := w.defs[strings.TrimPrefix(n.Ref, "#/$defs/")]; ok && to.Ref != "" {
		n.Ref = to.Ref
		n = w.resolved(n)
	}
	return n
}

// words are the texts among the values that are allowed.
func words(enum []any) (all []string) {
	for _, v := range enum {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
