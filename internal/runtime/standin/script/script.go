package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"orchestrate/internal/runtime"
)

// Script is what the stand-in plays.
type Script struct {
	Version int                          `yaml:"version"`
	Jobs    map[string][]Step            `yaml:"jobs"`
	Checks  map[string]map[string]string `yaml:"checks"` // job -> check name -> Pass or Fail
}

// Results that a script may give a check.
const (
	Pass = "pass"
	Fail = "fail"
)

// Step is one thing to do; exactly one field beside Attempt is set.
type Step struct {
	Attempt int `yaml:"attempt"` // 0 = in every attempt

	Say          *string        `yaml:"say"`
	Write        *File          `yaml:"write"`
	Append       *File          `yaml:"append"`
	Delete       *string        `yaml:"delete"`
	Read         *string        `yaml:"read"`
	Tool         *Tool          `yaml:"tool"`
	Deny         *Deny          `yaml:"deny"`
	Sleep        *time.Duration `yaml:"sleep"`
	WaitFor      *string        `yaml:"wait_for"`
	Stderr       *string        `yaml:"stderr"`
	Spawn        *Spawn         `yaml:"spawn"`
	Model        *string        `yaml:"model"`
	Usage        *Usage         `yaml:"usage"`
	Error        *Error         `yaml:"error"`
	Exit         *int           `yaml:"exit"`
	Answer       *string        `yaml:"answer"`
	Verdict      map[string]any `yaml:"verdict"`
	NoCompletion *bool          `yaml:"no_completion"`
}

// File is a path with what goes into it.
type File struct {
	Path    string `yaml:"path"`
	Content string `yaml:"content"`
}

// Tool is a tool use that succeeds.
type Tool struct {
	Name  string `yaml:"name"`
	Input string `yaml:"input"`
}

// Deny is a tool use that was refused.
type Deny struct {
	Tool     string `yaml:"tool"`
	Boundary string `yaml:"boundary"`
}

// Spawn is a child that outlives the stand-in.
type Spawn struct {
	Sleep time.Duration `yaml:"sleep"`
	Lock  string        `yaml:"lock"`
}

// Usage is what the stand-in claims to have used; absent is unknown.
type Usage struct {
	Input  *int64   `yaml:"input"`
	Output *int64   `yaml:"output"`
	USD    *float64 `yaml:"usd"`
}

// Error is a completion with the error flag.
type Error struct {
	Reason     runtime.Reason `yaml:"reason"`
	Text       string         `yaml:"text"`
	RetryAfter time.Duration  `yaml:"retry_after"`
}

// Load reads and checks the script at path.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("stand-in script: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return Script{}, fmt.Errorf("stand-in script %s: %w", path, err)
	}
	return s, nil
}

// Parse reads a script. All mistakes in its steps are reported in one error.
func Parse(data []byte) (Script, error) {
	var s Script
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return Script{}, err
	}
	if s.Version != 1 {
		return Script{}, fmt.Errorf("version is %d; this program plays `version: 1`", s.Version)
	}
	return s, errors.Join(append(stepErrors(s.Jobs), checkErrors(s.Checks)...)...)
}

func stepErrors(jobs map[string][]Step) (errs []error) {
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		errs = append(errs, Validate("jobs."+id, jobs[id])...)
	}
	return errs
}

// Validate says what is wrong with steps; where is what the errors call their list.
func Validate(where string, steps []Step) (errs []error) {
	for i, step := range steps {
		if err := step.validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]: %w", where, i, err))
		}
	}
	return errs
}

func checkErrors(checks map[string]map[string]string) (errs []error) {
	for _, id := range slices.Sorted(maps.Keys(checks)) {
		for _, name := range slices.Sorted(maps.Keys(checks[id])) {
			if r := checks[id][name]; r != Pass && r != Fail {
				errs = append(errs, fmt.Errorf("checks.%s.%s is %q; allowed are pass and fail", id, name, r))
			}
		}
	}
	return errs
}

// validate says what a step lacks to be playable.
func (s Step) validate() error {
	if n := s.actions(); n != 1 {
		return fmt.Errorf("a step has exactly one action; this one has %d", n)
	}
	if s.Attempt < 0 {
		return fmt.Errorf("attempt is %d; the first attempt is 1", s.Attempt)
	}
	switch {
	case s.Write != nil && s.Write.Path == "", s.Append != nil && s.Append.Path == "":
		return errors.New("path is missing")
	case s.Deny != nil && (s.Deny.Tool == "" || s.Deny.Boundary == ""):
		return errors.New("deny needs tool and boundary")
	case s.Error != nil && s.Error.Reason == "":
		return errors.New("error needs a reason, such as rate_limit or crash")
	case s.Spawn != nil && s.Spawn.Sleep <= 0:
		return errors.New("spawn needs a sleep, such as 10m")
	case s.Exit != nil && (*s.Exit < 0 || *s.Exit > 255):
		return fmt.Errorf("exit is %d; allowed is 0 to 255", *s.Exit)
	}
	return nil
}

func (s Step) actions() (n int) {
	for _, set := range [...]bool{
		s.Say != nil, s.Write != nil, s.Append != nil, s.Delete != nil, s.Read != nil, s.Tool != nil,
		s.Deny != nil, s.Sleep != nil, s.WaitFor != nil, s.Stderr != nil, s.Spawn != nil, s.Model != nil,
		s.Usage != nil, s.Error != nil, s.Exit != nil, s.Answer != nil, s.Verdict != nil, s.NoCompletion != nil,
	} {
		if set {
			n++
		}
	}
	return n
}
