package custom

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom/output"
)

// read finds the models in what the program printed: the first word of each line, or
// the members of a list in JSON.
func (l List) read(answer runtime.Answer) (ids []string, ok bool) {
	if l.JSON != "" {
		return output.Texts(answer.Stdout, l.JSON, l.Key)
	}
	for line := range strings.Lines(string(answer.Stdout)) {
		if words := strings.Fields(line); len(words) > 0 {
			ids = append(ids, words[0])
		}
	}
	return ids, len(ids) > 0
}
