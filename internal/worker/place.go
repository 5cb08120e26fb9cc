package worker

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/spec"
)

// jobField is the field of a diagnostic about a job of the spec.
var jobField = regexp.MustCompile(`^jobs\[([0-9]+)\]\.?(.*)$`)

// otherJob is how a message of a spec says where another job is.
var otherJob = regexp.MustCompile(`jobs\[([0-9]+)\] on line [0-9]+`)

// renamed are the keys of tasks that have another name in a spec.
var renamed = map[string]string{
	"runtime": "adapter", "effect": "write", "overlap": "write", "command": "worker_cmd", "continue": "resume_from",
	"worker.command": "worker_cmd", "worker.resumes": "resume_from", "worker": "worker_cmd",
}

// place says of mistakes that were found in the spec where they are in the manifest.
func (m *Manifest) place(diags []spec.Diagnostic) []spec.Diagnostic {
	for i := range diags {
		at := []string{}
		if parts := jobField.FindStringSubmatch(diags[i].Field); parts != nil {
			if n, err := strconv.Atoi(parts[1]); err == nil && n < len(m.places) {
				at = append([]string{"tasks", strconv.Itoa(m.places[n])}, m.keys(m.places[n], parts[2])...)
				diags[i].Message = m.ofPrompt(n, diags[i].Message)
			}
		}
		diags[i].Pos, diags[i].Field = m.form.Place(at...)
		diags[i].Message = otherJob.ReplaceAllStringFunc(diags[i].Message, m.otherTask)
	}
	slices.SortStableFunc(diags, func(a, b spec.Diagnostic) int {
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Col - b.Pos.Col
	})
	if m.opts.By == dispatched {
		return bare(diags)
	}
	return diags
}

// otherTask says of another job of the spec which task of the manifest it is of.
func (m *Manifest) otherTask(job string) string {
	n, err := strconv.Atoi(otherJob.FindStringSubmatch(job)[1])
	if err != nil || n >= len(m.places) {
		return job
	}
	return "tasks[" + strconv.Itoa(m.places[n]) + "]"
}

// ofPrompt says of the file that a prompt was written down in, which nobody has, what the
// person has in its place.
func (m *Manifest) ofPrompt(n int, message string) string {
	written := strconv.Quote(m.jobs[n].PromptFile)
	if task := m.places[n]; strings.Contains(message, written) && m.form.Has("tasks", strconv.Itoa(task), "prompt_file") {
		doc, _ := m.form.Plain().(map[string]any)
		list, _ := doc["tasks"].([]any)
		return strings.ReplaceAll(message, written, strconv.Quote(fieldsOf(list[task]).text("prompt_file")))
	}
	return strings.ReplaceAll(strings.ReplaceAll(message, written+", ", ""), written, "the prompt")
}

// dispatched is the command whose one task no document says.
const dispatched = "dispatch"

// keys are those of a task that lead to what a field of its job is about. A value that the
// task does not say itself is a default.
func (m *Manifest) keys(task int, field string) []string {
	for old, key := range renamed {
		if rest, ok := strings.CutPrefix(field, old); ok && (rest == "" || rest[0] == '.' && old != "worker") {
			field = key
			break
		}
	}
	keys := strings.FieldsFunc(field, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	if len(keys) == 0 {
		return nil
	}
	other := map[string]string{"prompt": "prompt_file", "prompt_file": "prompt"}[keys[0]]
	if other != "" && !m.form.Has("tasks", strconv.Itoa(task), keys[0]) && m.form.Has("tasks", strconv.Itoa(task), other) {
		keys[0] = other
	}
	return keys
}
