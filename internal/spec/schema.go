package spec

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a job spec.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// schemaURL names the schema. It is absolute: a relative one is resolved against
// the working folder, whose name may hold what no URL can.
const schemaURL = "file:///schema.json"

// schema is the compiled form beside the raw one, from which messages take the
// words that say what is allowed ("title") and the keys that are known.
type schema struct {
	compiled *jsonschema.Schema
	raw      any
}

// loadSchema compiles the embedded schema once; it is part of the program, so a
// fault in it is a fault of the build.
var loadSchema = sync.OnceValue(func() *schema {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		panic("embedded schema.json: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, raw); err != nil {
		panic("embedded schema.json: " + err.Error())
	}
	return &schema{compiled: c.MustCompile(schemaURL), raw: raw}
})

// node finds the raw schema at a location such as "…#/$defs/job/properties/id".
func (s *schema) node(url string) map[string]any {
	_, pointer, _ := strings.Cut(url, "#")
	at := s.raw
	for _, seg := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if seg == "" {
			continue
		}
		seg = strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[seg]
	}
	m, _ := at.(map[string]any)
	return m
}

// keys lists the property names that an object of this schema may have, in
// alphabetical order, those of the schemas it refers to included.
func (s *schema) keys(node map[string]any) []string {
	var out []string
	for node != nil {
		if props, ok := node["properties"].(map[string]any); ok {
			for k := range props {
				out = append(out, k)
			}
		}
		ref, ok := node["$ref"].(string)
		if !ok {
			break
		}
		node = s.node(ref)
	}
	slices.Sort(out)
	return out
}

// reserved reports whether a job field is in the schema but not available yet.
func reserved(field string) bool {
	s := loadSchema()
	props, _ := s.node("#/$defs/fields")["properties"].(map[string]any)
	prop, _ := props[field].(map[string]any)
	return prop["$ref"] == "#/$defs/reserved"
}
