package modelsim

import (
	"encoding/json"
	"slices"
)

// The tools by which agents write a file, read one and run a command, with what
// they call their fields if the request does not say. The first that is offered
// is used.
var (
	writers = []struct{ name, path, content string }{
		{"Write", "file_path", "content"},
		{"write_file", "file_path", "content"},
		{"write", "path", "content"},
		{"create", "path", "file_text"},
	}
	readers = []struct{ name, path string }{
		{"Read", "file_path"},
		{"read_file", "file_path"},
		{"read", "path"},
		{"view", "path"},
	}
	shells = []struct {
		name, command string
		argv          bool // the command is a list of words
	}{
		{"Bash", "command", false},
		{"exec_command", "cmd", false},
		{"shell_command", "command", false},
		{"shell", "command", true},
		{"bash", "command", false},
		{"run_shell_command", "command", false},
		{"run_commands", "commands", false},
		{"execute_command", "command", false},
	}
)

// What fields are called for which the tools above have several names.
var (
	pathFields    = []string{"file_path", "filePath", "absolute_path", "path"}
	contentFields = []string{"content", "file_text", "contents"}
	commandFields = []string{"command", "cmd", "commands"}
)

// fieldsOf reads the fields of an object and their types from its JSON schema; a
// type that is not one word is "". It is nil for what is no schema of an object.
func fieldsOf(schema json.RawMessage) map[string]string {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &object) != nil || object.Properties == nil {
		return nil
	}
	out := make(map[string]string, len(object.Properties))
	for name, property := range object.Properties {
		var field struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(property, &field) != nil {
			field.Type = ""
		}
		out[name] = field.Type
	}
	return out
}

// field is the name under which the tool takes something: usual, unless the
// request says that it is another of names.
func (o offer) field(usual string, names []string) string {
	if _, ok := o.fields[usual]; ok || o.fields == nil {
		return usual
	}
	if i := slices.IndexFunc(names, func(n string) bool { _, ok := o.fields[n]; return ok }); i >= 0 {
		return names[i]
	}
	return usual
}

// extras fills the fields that some tools demand beside what a step is about.
func (o offer) extras() map[string]any {
	out := map[string]any{}
	if _, ok := o.fields["description"]; ok {
		out["description"] = "as the scenario says"
	}
	if _, ok := o.fields["is_background"]; ok {
		out["is_background"] = false
	}
	return out
}

// command is a command line as the field takes it: as it is, as one of several, or
// as the words of a program's call.
func (o offer) command(field, line string, argv bool) any {
	if kind := o.fields[field]; kind != "" {
		argv = kind == "array"
	}
	switch {
	case field == "commands":
		return []string{line}
	case argv:
		return []string{"bash", "-lc", line}
	}
	return line
}
