package runtime

import (
	"encoding/json"
	"fmt"
)

// SchemaText is the schema of the answer on one line, as a flag takes it. The name of
// its dialect is left out: a program may know one dialect only, and drop a schema of
// another without a word.
func (r Request) SchemaText() (string, error) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(r.AnswerSchema, &schema); err != nil {
		return "", fmt.Errorf("the schema of the answer is no JSON object: %w", err)
	}
	delete(schema, "$schema")
	text, err := json.Marshal(schema)
	return string(text), err
}
