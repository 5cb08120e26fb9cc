package prompts

import "strings"

// formHeading begins the part of the verifier's template that says how to answer.
const formHeading = "## The form of your answer\n"

// AnswerForm is the last section of the verifier's template, for a prompt that says by
// itself what is checked: how the verdict is given in field (a name, or a JSONPath) with the
// value accept.
func AnswerForm(field, accept string) (string, error) {
	text, err := Text(Verifier)
	if err != nil {
		return "", err
	}
	reject := "fail"
	if strings.EqualFold(accept, reject) {
		reject = "pass"
	}
	return fill(Verifier, text[strings.Index(text, formHeading):], map[string]string{
		"field": field, "accept": accept, "reject": reject,
	})
}
