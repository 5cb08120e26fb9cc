package spec

import "strconv"

// value is a place in the document: what is there (nil or null = absent), its
// field path, and the nearest position when nothing is there.
type value struct {
	t    *tree
	path string
	near spot
	file string // that it is in, where that is not the document
}

// present reports whether there is anything but null.
func (v value) present() bool { return v.t != nil && v.t.kind != kindNull }

// at is where a message about the value points.
func (v value) at() spot {
	if v.t != nil {
		return v.t.at
	}
	return v.near
}

// field is the value of a key.
func (v value) field(key string) value {
	out := value{path: key, near: v.at(), file: v.file}
	if v.path != "" {
		out.path = v.path + "." + key
	}
	if v.t != nil && v.t.kind == kindMap {
		if c, ok := v.t.fields[key]; ok {
			out.t = c
			if c.kind == kindNull {
				out.near = v.t.keyAt[key]
			}
		}
	}
	return out
}

// list is what a list holds, nulls included.
func (v value) list() []*tree {
	if v.t == nil || v.t.kind != kindList {
		return nil
	}
	return v.t.items
}

// items are the members of a list that are not null.
func (v value) items() []value {
	out := make([]value, 0, len(v.list()))
	for i := range v.list() {
		if c := v.item(i); c.present() {
			out = append(out, c)
		}
	}
	return out
}

// item is the i-th member of a list, from 0.
func (v value) item(i int) value {
	out := value{path: v.path + "[" + strconv.Itoa(i) + "]", near: v.at(), file: v.file}
	if v.t != nil && v.t.kind == kindList && i >= 0 && i < len(v.t.items) {
		out.t = v.t.items[i]
	}
	return out
}

// locate follows a JSON location.
func (v value) locate(location []string) value {
	for _, seg := range location {
		if v.t != nil && v.t.kind == kindList {
			i, err := strconv.Atoi(seg)
			if err != nil {
				i = -1
			}
			v = v.item(i)
			continue
		}
		v = v.field(seg)
	}
	return v
}

// text is the string there, or "".
func (v value) text() string {
	if v.t == nil || v.t.kind != kindText {
		return ""
	}
	return v.t.text
}

// texts are the strings of a list: nil when absent, empty when the list is.
func (v value) texts() []string {
	if v.t == nil || v.t.kind != kindList {
		return nil
	}
	out := make([]string, 0, len(v.t.items))
	for _, c := range v.t.items {
		if c.kind == kindText {
			out = append(out, c.text)
		}
	}
	return out
}

// truth is the boolean there, or false.
func (v value) truth() bool { return v.t != nil && v.t.kind == kindBool && v.t.truth }

// integer is the whole number there, or the fallback.
func (v value) integer(fallback int64) int64 {
	if v.t == nil || v.t.kind != kindNumber {
		return fallback
	}
	switch n := v.t.number.(type) {
	case int64:
		return n
	case float64:
		if n == float64(int64(n)) {
			return int64(n)
		}
	}
	return fallback
}

// float is the number there, or 0.
func (v value) float() float64 {
	if v.t == nil || v.t.kind != kindNumber {
		return 0
	}
	switch n := v.t.number.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// or is the text there, or the fallback when there is none.
func (v value) or(fallback string) string {
	if s := v.text(); s != "" {
		return s
	}
	return fallback
}
