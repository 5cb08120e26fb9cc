package output

import (
	"encoding/json"
	"strconv"
	"strings"
)

// find follows a dotted path into a JSON value; a number counts into a list.
func find(data []byte, path string) (json.RawMessage, bool) {
	at := json.RawMessage(data)
	for step := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(at, &fields) == nil {
			next, ok := fields[step]
			if !ok {
				return nil, false
			}
			at = next
			continue
		}
		var items []json.RawMessage
		i, err := strconv.Atoi(step)
		if err != nil || json.Unmarshal(at, &items) != nil || i < 0 || i >= len(items) {
			return nil, false
		}
		at = items[i]
	}
	return at, string(at) != "null"
}

// textAt is the text at a path; what is no text is given as JSON.
func textAt(data []byte, path string) (string, bool) {
	found, ok := find(data, path)
	if !ok {
		return "", false
	}
	var s string
	if json.Unmarshal(found, &s) == nil {
		return s, true
	}
	return string(found), true
}

// numberAt is the number at a path, nil where there is none.
func numberAt[N int64 | float64](data []byte, path string) *N {
	if path == "" {
		return nil
	}
	found, ok := find(data, path)
	var n N
	if !ok || json.Unmarshal(found, &n) != nil {
		return nil
	}
	return &n
}

// holds reports whether the object has the value that "field=value" wants.
func holds(data []byte, want string) bool {
	field, value, _ := strings.Cut(want, "=")
	got, ok := textAt(data, field)
	return ok && got == value
}

// Texts are the texts of the list at a path, or of the field called key of each of
// its members; ok is false where there is no such list. path "." is the whole.
func Texts(data []byte, path, key string) (all []string, ok bool) {
	list := json.RawMessage(data)
	if path != "." {
		if list, ok = find(data, path); !ok {
			return nil, false
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return nil, false
	}
	for _, item := range items {
		if key != "" {
			if item, ok = find(item, key); !ok {
				continue
			}
		}
		var s string
		if json.Unmarshal(item, &s) == nil && s != "" {
			all = append(all, s)
		}
	}
	return all, true
}
