package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	fault "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// shape checks the document against the schema and puts what it finds into words.
func (r *reader) shape(root value) {
	s := loadSchema()
	err := s.compiled.Validate(root.t.plain())
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		r.explain(s, root, invalid)
	}
}

// explain walks to the leaves of a schema error: only they name a mistake.
func (r *reader) explain(s *schema, root value, e *jsonschema.ValidationError) {
	for _, c := range e.Causes {
		r.explain(s, root, c)
	}
	if len(e.Causes) > 0 || r.full() {
		return
	}
	v := root.locate(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *fault.FalseSchema:
		owner := strings.TrimSuffix(e.SchemaURL, "/unevaluatedProperties")
		parent := root.locate(e.InstanceLocation[:len(e.InstanceLocation)-1])
		r.unknownKey(parent, e.InstanceLocation[len(e.InstanceLocation)-1], s.keys(s.node(owner)))
	case *fault.AdditionalProperties:
		for _, key := range k.Properties[:min(len(k.Properties), maxErrors+1)] {
			r.unknownKey(v, key, s.keys(s.node(e.SchemaURL)))
		}
	case *fault.Required:
		for _, key := range k.Missing {
			r.missing(v.field(key), "")
		}
	case *fault.Enum:
		r.notInEnum(v, k.Want)
	default:
		r.notAllowed(v, s.node(e.SchemaURL))
	}
}

// unknownKey reports a key that no field has. A field that the schema knows is
// named here too when its value is wrong, which is reported elsewhere.
func (r *reader) unknownKey(parent value, key string, known []string) {
	if slices.Contains(known, key) {
		return
	}
	known = slices.DeleteFunc(known, reserved)
	v := parent.field(key)
	at := parent.t.keyAt[key]
	if parent.path == "defaults" && slices.Contains([]string{"id", "prompt", "depends_on"}, key) {
		r.report(at, v.path, "unknown-key", fmt.Sprintf("%s cannot have a default; say it in each job", key))
		return
	}
	if likely := nearest(key, known); likely != "" {
		// What was meant is there, so it is not reported as missing too.
		r.spoiled[parent.field(likely).path] = true
	}
	r.report(at, v.path, "unknown-key", fmt.Sprintf("unknown key %s; allowed: %s%s", quote(key), list(known), meant(key, known)))
}

// missing reports a required field that is absent; hint says what may stand there.
func (r *reader) missing(v value, hint string) {
	name, ok := afterLast(v.path, ".")
	if !ok {
		name = v.path
	}
	message := fmt.Sprintf("%s is missing", name)
	if hint != "" {
		message += "; " + hint
	}
	r.fail(v, "required", message)
}

func (r *reader) notInEnum(v value, want []any) {
	var allowed []string
	for _, w := range want {
		if s, ok := w.(string); ok && s != "clone" {
			allowed = append(allowed, s)
		}
	}
	r.fail(v, "value", fmt.Sprintf("found %s; allowed: %s%s", v.t.words(), list(allowed), meant(v.text(), allowed)))
}

// notAllowed says what was found and, in the schema's own words, what may be there.
func (r *reader) notAllowed(v value, node map[string]any) {
	if only, ok := node["type"].(string); ok && only == "null" {
		name, _ := afterLast(v.path, ".")
		r.report(v.at(), v.path, "not-available", name+" is not available yet; remove it")
		return
	}
	allowed, ok := node["title"].(string)
	if !ok {
		allowed = "see orchestrate schema"
	}
	found := "nothing"
	if v.t != nil {
		found = v.t.words()
	}
	r.fail(v, "value", fmt.Sprintf("found %s; allowed: %s", found, allowed))
}

// afterLast is what stands behind the last separator.
func afterLast(s, sep string) (after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", false
	}
	return s[i+len(sep):], true
}
