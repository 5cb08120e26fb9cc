package engine

import (
	"encoding/json"
)

// cleaned is v with every string in it redacted, for what is kept in memory and
// told in several places. v has a JSON form of all that matters.
func cleaned[T any](r *run, v T) T {
	data, err := json.Marshal(v)
	if err != nil {
		r.fail(err)
		return v
	}
	clean := r.redact.JSON(data)
	if string(clean) == string(data) {
		return v
	}
	var out T
	if err := json.Unmarshal(clean, &out); err != nil {
		r.fail(err)
	}
	return out
}
