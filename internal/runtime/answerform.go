package runtime

import (
	"encoding/json"
	"fmt"
)

// HoldForm gives the program the schema of the answer by a flag that takes it as text, if
// the request has one.
func (c *Command) HoldForm(req Request, p Profile, flag string) error {
	if req.AnswerSchema == nil {
		return nil
	}
	if err := c.Use(p, ControlAnswerForm, "held to the form of its answer"); err != nil {
		return err
	}
	text, err := req.schemaText()
	if err != nil {
		return err
	}
	c.Argv = append(c.Argv, flag+"="+text)
	return nil
}

// schemaText is the schema of the answer on one line, as a flag takes it. The name of
// its dialect is left out: a program may know one dialect only, and drop a schema of
// another without a word.
func (r Request) schemaText() (string, error) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(r.AnswerSchema, &schema); err != nil {
		return "", fmt.Errorf("the schema of the answer is no JSON object: %w", err)
	}
	delete(schema, "$schema")
	text, err := json.Marshal(schema)
	return string(text), err
}
