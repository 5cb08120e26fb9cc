package spec

import (
	"maps"
	"slices"
)

// Documents are read once and then only ever copied: what several jobs share they share.

// textAt is a text as if it stood at a place.
func textAt(at spot, text string) *tree { return &tree{kind: kindText, at: at, text: text, size: 1} }

// set adds or replaces a field.
func (t *tree) set(key string, to *tree) {
	if _, ok := t.fields[key]; !ok {
		t.keys = append(t.keys, key)
	}
	t.fields[key] = to
}

// with is a mapping with some of its fields changed; nil removes one.
func (v value) with(changes map[string]*tree) value {
	t := *v.t
	t.keys, t.fields = slices.Clone(t.keys), maps.Clone(t.fields)
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if changes[key] != nil {
			t.set(key, changes[key])
			continue
		}
		if _, ok := t.fields[key]; ok {
			delete(t.fields, key)
			t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == key })
		}
	}
	v.t = &t
	return v
}

// withDefaults is a job with those fields of defaults that it does not say itself.
func (v value) withDefaults(def value, keys ...string) value {
	changes := map[string]*tree{}
	for _, key := range keys {
		if d := def.field(key); d.present() && !v.field(key).present() {
			changes[key] = d.t
		}
	}
	if len(changes) == 0 {
		return v
	}
	return v.with(changes)
}
