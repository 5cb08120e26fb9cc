package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/spec"
)

// node is a part of the spec's JSON Schema; its properties keep their order.
type node struct {
	Ref         string     `json:"$ref"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Default     any        `json:"default"`
	Enum        []any      `json:"enum"`
	Properties  properties `json:"properties"`
	Items       *node      `json:"items"`
}

type properties []property

type property struct {
	name string
	node node
}

func (p *properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := property{name: name.(string)}
		if err := dec.Decode(&one.node); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

type document struct {
	node
	Defs map[string]node `json:"$defs"`
}

func schema(t *testing.T) document {
	t.Helper()
	var doc document
	if err := json.Unmarshal(spec.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// resolved is a node with what it refers to; what it says itself comes first.
func (d document) resolved(n node) node {
	if n.Ref == "" {
		return n
	}
	to := d.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	if n.Title == "" {
		n.Title = to.Title
	}
	if n.Description == "" {
		n.Description = to.Description
	}
	if n.Default == nil {
		n.Default = to.Default
	}
	if n.Items == nil {
		n.Items = to.Items
	}
	return n
}

// rows are a field and those inside it; of what no person writes there are none.
func (d document) rows(name string, n node) (all [][]string) {
	reserved := n.Ref == "#/$defs/reserved"
	n = d.resolved(n)
	if n.Title == "a mapping that orchestrate writes" {
		return nil
	}
	mark, is := "", n.Title
	if reserved {
		mark, is = " †", ""
	}
	if values := words(n.Enum); values != "" {
		is = values
	}
	if n.Items != nil && n.Items.Properties != nil && !strings.Contains(is, "{") {
		is += ", each " + n.Items.Title
	}
	all = append(all, []string{"`" + name + "`" + mark, is, written(n.Default), n.Description})
	for _, p := range n.Properties {
		all = append(all, d.rows(name+"."+p.name, p.node)...)
	}
	if n.Items == nil {
		return all
	}
	for _, p := range n.Items.Properties {
		all = append(all, d.rows(name+"[]."+p.name, p.node)...)
	}
	return all
}

// words are the values that a field can have.
func words(enum []any) string {
	var all []string
	for _, v := range enum {
		if v != nil {
			all = append(all, fmt.Sprint(v))
		}
	}
	return strings.Join(all, ", ")
}

func written(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return fmt.Sprintf("%.0f", v)
	case []any:
		return words(v)
	}
	return fmt.Sprint(value)
}

func head() [][]string { return [][]string{{"field", "is", "default", ""}} }

func topFields(t *testing.T) string {
	doc, rows := schema(t), head()
	for _, p := range doc.Properties {
		p.node.Properties = nil // has a table of its own
		rows = append(rows, doc.rows(p.name, p.node)...)
	}
	return table(rows)
}

// objectFields are those of one mapping at the top level.
func objectFields(t *testing.T, name string) string {
	doc, rows := schema(t), head()
	for _, p := range doc.Properties {
		if p.name == name {
			for _, inner := range p.node.Properties {
				rows = append(rows, doc.rows(inner.name, inner.node)...)
			}
		}
	}
	return table(rows)
}

func jobFields(t *testing.T) string {
	doc, rows := schema(t), head()
	for _, def := range []string{"job", "fields"} {
		for _, p := range doc.Defs[def].Properties {
			rows = append(rows, doc.rows(p.name, p.node)...)
		}
	}
	return table(rows)
}

// enum are the words that a job's field can have.
func enum(t *testing.T, field string) (all []string) {
	t.Helper()
	for _, p := range schema(t).Defs["fields"].Properties {
		if p.name == field {
			all = strings.Split(words(p.node.Enum), ", ")
		}
	}
	if len(all) < 2 {
		t.Fatalf("%s has no list of words", field)
	}
	return all
}
