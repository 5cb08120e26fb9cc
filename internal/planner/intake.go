package planner

import "strings"

// Questions are put to the person at a terminal before a request is planned. Each can be
// left unanswered.
func Questions() []string {
	return []string{
		"What should be there in the end, in your words?",
		"What must hold whatever happens (constraints)?",
		"What is not wanted?",
		"How will you know that it is done?",
	}
}

// Markdown is request.md: the request, and what the person answered to Questions, as far
// as they did.
func Markdown(request string, answers []string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(request) + "\n")
	for i, q := range Questions() {
		if i < len(answers) && strings.TrimSpace(answers[i]) != "" {
			b.WriteString("\n## " + q + "\n\n" + strings.TrimSpace(answers[i]) + "\n")
		}
	}
	return b.String()
}
