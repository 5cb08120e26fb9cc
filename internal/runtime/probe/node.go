package probe

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
)

// NodeNeed says that a program did not run for want of a newer Node. Unknown is "".
type NodeNeed struct {
	Wants string // the least version that it names
	Found string // the version that ran it
}

var (
	wantsNode = regexp.MustCompile(`(?i)\b(?:needs?|requires?)\s+(?:a\s+)?node(?:\.?js)?\s*(?:version\s*)?(?:>=?\s*)?v?(\d+(?:\.\d+)*)`)
	foundNode = regexp.MustCompile(`(?i)(?:\bnode(?:\.js)? |\byou're on |\bcurrent(?:ly)? |\b(?:found|running|using|have) (?:node(?:\.js)? )?)v(\d+\.\d+\.\d+)`)
	// lacksNode is what Node prints of itself where a program asks it for a part that
	// it does not have. A missing part of another package says nothing of Node.
	lacksNode = regexp.MustCompile(`The requested module '(?:node:[\w/]+)' does not provide an export|No such built-in module: node:|ERR_UNKNOWN_BUILTIN_MODULE|Invalid regular expression flags`)
)

// NeedsNode recognizes, in what a program said as it failed, that the Node that ran
// it is too old for it.
func NeedsNode(answer runtime.Answer) (NodeNeed, bool) {
	if answer.ExitCode == 0 || answer.TimedOut || answer.Err != nil {
		return NodeNeed{}, false
	}
	text := Text(answer)
	wants := wantsNode.FindStringSubmatch(text)
	if wants == nil && !lacksNode.MatchString(text) {
		return NodeNeed{}, false
	}
	need := NodeNeed{}
	if wants != nil {
		need.Wants = wants[1]
	}
	if found := foundNode.FindAllStringSubmatch(text, -1); found != nil {
		need.Found = found[len(found)-1][1] // the last line is Node's own
	}
	return need, true
}

// Reason says it to a person.
func (n NodeNeed) Reason() string {
	return fmt.Sprintf("it does not run on this Node (%s): it needs %s", cmp.Or(prefixed("v", n.Found), "version unknown"), n.version())
}

// NextStep says what a person does about it.
func (n NodeNeed) NextStep() string {
	return fmt.Sprintf("install %s, put its `node` first on PATH, then run `orchestrate doctor` again", n.version())
}

func (n NodeNeed) version() string {
	if n.Wants == "" {
		return "a newer Node"
	}
	return "Node " + strings.TrimPrefix(n.Wants, "v") + " or newer"
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
