package probe

import (
	"bytes"
	"encoding/json"
)

// JSON decodes the first JSON object in what a program printed, past any notice
// before it, and reports whether there was one.
func JSON(printed []byte, into any) bool {
	for start := bytes.IndexByte(printed, '{'); start >= 0; {
		if json.NewDecoder(bytes.NewReader(printed[start:])).Decode(into) == nil {
			return true
		}
		next := bytes.IndexByte(printed[start+1:], '{')
		if next < 0 {
			return false
		}
		start += 1 + next
	}
	return false
}

// JSONLines calls each for every line that is a JSON object.
func JSONLines(printed []byte, each func(line []byte)) {
	for line := range bytes.Lines(printed) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] == '{' && json.Valid(line) {
			each(line)
		}
	}
}
