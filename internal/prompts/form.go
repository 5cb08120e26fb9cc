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

// jsonAlone is how an answer is given that a program reads.
const jsonAlone = "\nYour final message is one JSON document and nothing else; one fenced block around it is allowed."

// SearchForm is, for a prompt, how a round of a search answers: key is the JSONPath at which
// is read what tells findings apart.
func SearchForm(key string) string {
	return formHeading + jsonAlone + " What tells your findings apart is read at `" + key + "`.\n"
}

// ListForm is, for a prompt, how an answer is given that has lists whose items others work
// on: paths are the JSONPaths at which they are read.
func ListForm(paths []string) string {
	return formHeading + jsonAlone + listsAt(paths)
}

// AlsoLists says the same behind another form of an answer in JSON; "" = there are no lists.
func AlsoLists(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "\nOf the same JSON:" + listsAt(paths)
}

func listsAt(paths []string) string {
	if len(paths) == 1 {
		return " The list whose items others then work on is read at `" + paths[0] + "`.\n"
	}
	return " The lists whose items others then work on are read at `" + strings.Join(paths, "` and `") + "`.\n"
}
