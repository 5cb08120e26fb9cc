package spec

import (
	"bytes"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"orchestrate/internal/schema"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a job spec.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// loadSchema compiles the embedded schema once. Messages take from it the words
// that say what is allowed ("title") and the keys that are known.
var loadSchema = sync.OnceValue(func() *schema.Schema { return schema.MustCompile(schemaJSON) })

// schemaNode finds the raw schema at a location such as "#/$defs/fields".
func schemaNode(pointer string) map[string]any {
	at := loadSchema().Raw()
	for seg := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		at, _ = at[seg].(map[string]any)
	}
	return at
}

// schemaKeys lists the property names that an object of this schema may have, in
// alphabetical order, those of the schemas it refers to included.
func schemaKeys(node map[string]any) (keys []string) {
	for node != nil {
		if props, ok := node["properties"].(map[string]any); ok {
			for k := range props {
				keys = append(keys, k)
			}
		}
		ref, ok := node["$ref"].(string)
		if !ok {
			break
		}
		node = schemaNode(ref)
	}
	slices.Sort(keys)
	return keys
}

// unsaid reports whether nobody can say a job field: it is reserved, or only this program
// writes it.
func unsaid(field string) bool { return reserved(field) || field == "pattern" || field == "worker" }

// perJob are the job fields that have no default.
func perJob() []string {
	props, _ := schemaNode("#/$defs/job")["properties"].(map[string]any)
	return slices.Collect(maps.Keys(props))
}

// reserved reports whether a job field is in the schema but not available yet.
func reserved(field string) bool {
	props, _ := schemaNode("#/$defs/fields")["properties"].(map[string]any)
	prop, _ := props[field].(map[string]any)
	return prop["$ref"] == "#/$defs/reserved"
}
