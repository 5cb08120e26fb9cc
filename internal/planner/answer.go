package planner

import (
	"errors"
	"fmt"
	"strings"

	"orchestrate/internal/untrusted"
)

// Answer is what a planner came to: a spec, or why none is needed.
type Answer struct {
	Spec string
	None untrusted.Text
}

// Parse reads a planner's final message: exactly one fenced block that is called yaml or
// none, else a message that is a spec and nothing besides. What stands around the block is
// talk. The error says what is wrong with the form.
func Parse(answer untrusted.Text) (Answer, error) {
	text := strings.ReplaceAll(answer.Unshown(), "\r\n", "\n")
	specs, nones, whole := blocks(text)
	switch {
	case len(specs) == 0 && len(nones) == 0 && strings.HasPrefix(strings.TrimSpace(text), "version:"):
		return Answer{Spec: strings.TrimSpace(text) + "\n"}, nil
	case len(specs) == 0 && len(nones) == 0:
		return Answer{}, errors.New("there is no fenced block called yaml (a spec) or none (why no spec is needed)")
	case len(specs)+len(nones) > 1:
		return Answer{}, fmt.Errorf("there are %d fenced blocks called yaml and %d called none; give exactly one, and nothing that was rejected beside it", len(specs), len(nones))
	case len(nones) == 1 && strings.TrimSpace(nones[0]) == "":
		return Answer{}, errors.New("the block called none is empty; say in it why no orchestration is needed")
	case len(nones) == 1:
		return Answer{None: untrusted.From(strings.TrimSpace(nones[0]))}, nil
	case !whole, strings.TrimSpace(specs[0]) == "":
		return Answer{}, errors.New("the block called yaml is empty, or the answer was cut off; give the whole spec, and close its fence")
	}
	return Answer{Spec: specs[0]}, nil
}

// blocks are the fenced blocks of a text that count, in order. A fence inside of one is
// part of it if it is shorter or further in. They are not whole if the fence of a
// spec is never closed.
func blocks(text string) (specs, nones []string, whole bool) {
	var fence, name string
	var body strings.Builder
	keep := func() {
		switch name {
		case "yaml", "yml":
			specs = append(specs, body.String())
		case "none":
			nones = append(nones, body.String())
		}
		fence, name = "", ""
		body.Reset()
	}
	for line := range strings.Lines(text) {
		mark, info := fenced(line)
		switch {
		case fence == "" && mark != "":
			fence, name = mark, strings.ToLower(info)
		case fence != "" && info == "" && strings.HasPrefix(mark, fence):
			keep()
		case fence != "":
			body.WriteString(line)
		}
	}
	whole = fence == "" || name != "yaml" && name != "yml"
	if fence != "" { // it is counted all the same
		keep()
	}
	return specs, nones, whole
}

// fenced are the marks of a line that opens or closes a block, and the word behind them.
func fenced(line string) (mark, info string) {
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 {
		return "", ""
	}
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(bare, c)
		if n := len(bare) - len(rest); n >= 3 {
			info, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return bare[:n], info
		}
	}
	return "", ""
}
