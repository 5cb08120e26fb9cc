package spec

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/schema"
	"orchestrate/internal/spelling"
)

// shape checks the document against the schema and puts what it finds into words.
func (r *reader) shape(root value) {
	for _, f := range loadSchema().Check(root.t.plain()) {
		if r.full() {
			return
		}
		r.explain(root.locate(f.At), f)
	}
}

// explain words one fault of a value.
func (r *reader) explain(v value, f schema.Fault) {
	switch f.Keyword {
	case "additionalProperties":
		for _, key := range f.Keys[:min(len(f.Keys), maxErrors+1)] {
			r.unknownKey(v, key, schemaKeys(f.Schema))
		}
	case "required":
		for _, key := range f.Keys {
			r.missing(v.field(key), "")
		}
	case "enum":
		want, _ := f.Schema["enum"].([]any)
		r.notInEnum(v, want)
	default:
		r.notAllowed(v, f.Schema)
	}
}

// unknownKey reports a key that no field has.
func (r *reader) unknownKey(parent value, key string, known []string) {
	known = slices.DeleteFunc(known, unsaid)
	v := parent.field(key)
	at := parent.t.keyAt[key]
	if parent.path == "defaults" && slices.Contains(perJob(), key) {
		r.report(at, v.path, "unknown-key", fmt.Sprintf("%s cannot have a default; say it in each job", key))
		return
	}
	if likely := spelling.Nearest(key, known); likely != "" {
		// What was meant is there, so it is not reported as missing too.
		r.spoiled[parent.field(likely).path] = true
	}
	r.report(at, v.path, "unknown-key", fmt.Sprintf("unknown key %s; allowed: %s%s", quote(key), list(known), meant(key, known)))
}

// missing reports a required field that is absent; hint says what may stand there.
func (r *reader) missing(v value, hint string) {
	name, ok := lastName(v.path)
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
		name, _ := lastName(v.path)
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

// lastName is the name of a field whose path has several.
func lastName(path string) (name string, found bool) {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return "", false
	}
	return path[i+1:], true
}
