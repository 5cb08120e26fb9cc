package modelsim

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// The protocols that the server speaks.
const (
	Anthropic  = "anthropic"   // Messages
	OpenAI     = "openai"      // Responses
	OpenAIChat = "openai-chat" // chat completions
	Gemini     = "gemini"      // generateContent
)

// Scenario is what the server answers.
type Scenario struct {
	Models []string `yaml:"models"` // what a listing of models shows
	Rules  []Rule   `yaml:"rules"`  // the first that fits answers
}

// Rule says which requests it answers and how. A condition that is absent holds
// for every request.
type Rule struct {
	Name     string `yaml:"name"`     // shown in the record of a request
	API      string `yaml:"api"`      // one of the protocols
	Prefix   string `yaml:"prefix"`   // first segment of the path
	Model    string `yaml:"model"`    // as the request names it
	Contains string `yaml:"contains"` // in the texts of the user's side
	Matches  string `yaml:"matches"`  // regular expression on the same
	Turn     *int   `yaml:"turn"`     // how many tool results the request holds
	Tools    *bool  `yaml:"tools"`    // whether the request offers any; what an agent asks beside its work mostly has none
	JSON     *bool  `yaml:"json"`     // whether the answer is to be JSON, asked for by the protocol's means
	Times    int    `yaml:"times"`    // how often the rule answers; 0 = always

	// Require names nonces of the server that must all be in the request, else the
	// Otherwise steps are the answer.
	Require   []string `yaml:"require"`
	Do        []Step   `yaml:"do"`
	Otherwise []Step   `yaml:"otherwise"`

	Answers string        `yaml:"answers"` // model name in the answer; "" = the one asked for
	Usage   *Usage        `yaml:"usage"`   // nil = DefaultUsage
	Pace    time.Duration `yaml:"pace"`    // between two words of a text; 0 = none

	pattern *regexp.Regexp
}

// Usage is what an answer says it has used, in tokens.
type Usage struct {
	Input  int64 `yaml:"input"`
	Output int64 `yaml:"output"`
}

// DefaultUsage is what an answer says when its rule does not.
func DefaultUsage() Usage { return Usage{Input: 100, Output: 5} }

// Step is one part of an answer; exactly one field is set. Texts and the strings
// of inputs may hold {{nonce NAME}}, {{tool_result}}, the text of the last tool
// result, {{cwd}}, the working folder that the agent named, {{in DURATION}}, a time to
// come in seconds since 1970 (a number where it is all of a value), and {{find PATTERN}},
// what the first group of a regular expression last matched in the tool results, else in
// the texts of the user's side; the pattern is written without quotes and holds no }}.
type Step struct {
	Text    *string        `yaml:"text"`
	Tool    *Tool          `yaml:"tool"`
	Write   *File          `yaml:"write"`   // a whole file, by the agent's own means
	Read    *string        `yaml:"read"`    // path of a file to read, by the agent's own means
	Shell   *string        `yaml:"shell"`   // command line for the agent's shell
	Verdict *Verdict       `yaml:"verdict"` // an arbiter's answer
	Status  *Status        `yaml:"status"`  // the request fails
	Wait    *time.Duration `yaml:"wait"`    // pause, then go on
	Hang    bool           `yaml:"hang"`    // until the client goes
	Cut     bool           `yaml:"cut"`     // the connection breaks in the middle of a text
}

// Tool is a call of a tool by name.
type Tool struct {
	Names []string       `yaml:"names"` // the first that the request offers is called
	Input map[string]any `yaml:"input"`
	Raw   string         `yaml:"raw"`   // instead of Input, for a tool that takes plain text
	Force bool           `yaml:"force"` // call the first name even if it is not offered
}

// File is a path with what goes into it.
type File struct {
	Path    string `yaml:"path"`
	Content string `yaml:"content"`
}

// Status is a request that fails.
type Status struct {
	Code       int    `yaml:"code"`        // 4xx or 5xx; 404 = unknown model
	RetryAfter int    `yaml:"retry_after"` // seconds; 0 = it is not said
	Message    string `yaml:"message"`     // "" = one that fits the code

	Type    string            `yaml:"type"`    // the protocol's word for the kind of error; "" = one that fits the code
	Fields  map[string]any    `yaml:"fields"`  // more of the error, such as resets_in_seconds; they replace what has their name
	Headers map[string]string `yaml:"headers"` // more of the answer
}

// Load reads and checks the scenario at path, YAML or JSON.
func Load(path string) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, fmt.Errorf("scenario: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return Scenario{}, fmt.Errorf("scenario %s: %w", path, err)
	}
	return s, nil
}

// Parse reads and checks a scenario, YAML or JSON. Unknown keys are errors.
func Parse(data []byte) (Scenario, error) {
	var s Scenario
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return Scenario{}, err
	}
	return s, s.prepare()
}

// prepare checks all rules and compiles their patterns.
func (s *Scenario) prepare() error {
	var errs []error
	for i := range s.Rules {
		r := &s.Rules[i]
		if r.Name == "" {
			r.Name = fmt.Sprintf("rules[%d]", i)
		}
		for _, err := range r.prepare() {
			errs = append(errs, fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Rule) prepare() (errs []error) {
	if _, known := protocols[r.API]; r.API != "" && !known {
		allowed := strings.Join(slices.Sorted(maps.Keys(protocols)), ", ")
		errs = append(errs, fmt.Errorf("api is %q; allowed are %s", r.API, allowed))
	}
	if r.Matches != "" {
		var err error
		if r.pattern, err = regexp.Compile(r.Matches); err != nil {
			errs = append(errs, fmt.Errorf("matches: %w", err))
		}
	}
	if len(r.Do) == 0 {
		errs = append(errs, errors.New("do is missing: it needs at least one step"))
	}
	if (len(r.Require) > 0) != (len(r.Otherwise) > 0) {
		errs = append(errs, errors.New("require and otherwise go together"))
	}
	errs = append(errs, checkSteps("do", r.Do)...)
	return append(errs, checkSteps("otherwise", r.Otherwise)...)
}

func checkSteps(list string, steps []Step) (errs []error) {
	sent := false // something of a good answer
	for i, step := range steps {
		if err := step.check(sent); err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]: %w", list, i, err))
		}
		sent = sent || step.Wait == nil
	}
	return errs
}

func (s Step) check(sent bool) error {
	n := 0
	for _, set := range [...]bool{
		s.Text != nil, s.Tool != nil, s.Write != nil, s.Read != nil, s.Shell != nil,
		s.Verdict != nil, s.Status != nil, s.Wait != nil, s.Hang, s.Cut,
	} {
		if set {
			n++
		}
	}
	switch {
	case n != 1:
		return fmt.Errorf("a step does exactly one thing; this one does %d", n)
	case s.Tool != nil && len(s.Tool.Names) == 0:
		return errors.New("tool needs names")
	case s.Write != nil && s.Write.Path == "":
		return errors.New("write needs a path")
	case s.Status != nil && (s.Status.Code < 400 || s.Status.Code > 599):
		return fmt.Errorf("status code is %d; allowed is 400 to 599", s.Status.Code)
	case s.Status != nil && sent:
		return errors.New("a status comes before anything else but a wait")
	}
	return nil
}
