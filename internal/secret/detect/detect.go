// Package detect looks for secrets in what people and agents hand in: specs,
// prompts, inputs, patches and final answers. It is thorough and slow (1 to 3
// MB/s, and some 100 ms to start); streams are the business of package secret.
package detect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	gitleaks "github.com/zricethezav/gitleaks/v8/detect"

	"orchestrate/internal/secret"
)

// decodeDepth is how many layers of base64, hex and percent encoding are undone.
const decodeDepth = 2

// Finding is one secret in a text. It never holds the secret itself.
type Finding struct {
	Rule        string // the detector's name for the class, or "exact" for a known value
	Line, Col   int    // from 1; Col counts bytes
	Fingerprint string // what an operator writes down to allow this value: "rule:" and 16 hexadecimal digits
}

// Detector finds secrets. It is safe for concurrent use.
type Detector struct {
	mu    sync.Mutex
	rules *gitleaks.Detector // nil while it rests
	exact *secret.Redactor
	allow map[string]bool // the digits of fingerprints
}

// New returns a detector of the maintained rules and of the exact values given
// (those that are secret.Usable). Values whose fingerprint, of whatever rule, is
// in allow are left out.
func New(exact, allow []string) (*Detector, error) {
	rules, err := load()
	if err != nil {
		return nil, fmt.Errorf("load the rules of the secret detector: %w", err)
	}
	d := &Detector{rules: rules, exact: secret.NewAllowing(exact, allow), allow: map[string]bool{}}
	for _, fingerprint := range allow {
		d.allow[digits(fingerprint)] = true
	}
	return d, nil
}

// load makes the library's detector, which is most of the time to start.
func load() (*gitleaks.Detector, error) {
	cfg, err := defaults()
	if err != nil {
		return nil, err
	}
	rules := gitleaks.NewDetector(cfg)
	rules.MaxDecodeDepth = decodeDepth
	rules.IgnoreGitleaksAllow = true // a text does not get to excuse itself
	return rules, nil
}

// Rest gives back the memory of the rules, six megabytes, until the next search.
// A run that has begun may search nothing for hours, or never.
func (d *Detector) Rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = nil
}

// awake is the library's detector, loaded again if it was at rest.
func (d *Detector) awake() *gitleaks.Detector {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rules == nil {
		rules, err := load()
		if err != nil { // they are part of the program and have loaded before
			panic("the rules of the secret detector cannot be loaded again: " + err.Error())
		}
		d.rules = rules
	}
	return d.rules
}

// defaults are the maintained rules.
func defaults() (config.Config, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return config.Config{}, err
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return config.Config{}, err
	}
	words := takeStopWords(&raw)
	cfg, err := raw.Translate()
	if err != nil {
		return config.Config{}, err
	}
	return cfg, words.giveBack(cfg)
}

// stopWords are, by rule, the words of its lists of what is no secret, in order.
type stopWords map[string][][]string

// takeStopWords keeps the library from building a table for a quick search of
// them: eight megabytes for a thousand words that are looked up only in what a
// rule has already found.
func takeStopWords(raw *config.ViperConfig) stopWords {
	taken := stopWords{}
	for _, rule := range raw.Rules {
		for _, list := range rule.Allowlists {
			words := list.StopWords
			for i := range words {
				words[i] = strings.ToLower(words[i])
			}
			taken[rule.ID] = append(taken[rule.ID], words)
			list.StopWords = nil
		}
	}
	return taken
}

// giveBack puts the words where they are looked up one by one.
func (w stopWords) giveBack(cfg config.Config) error {
	for id, lists := range w {
		have := cfg.Rules[id].Allowlists
		if len(have) != len(lists) {
			return fmt.Errorf("rule %s has %d lists of exceptions where %d were read", id, len(have), len(lists))
		}
		for i, words := range lists {
			have[i].StopWords = words
		}
	}
	return nil
}

// digits is the part of a fingerprint that stands for the value.
func digits(fingerprint string) string {
	return fingerprint[strings.LastIndexByte(fingerprint, ':')+1:]
}

// Find returns the known values, what the stream redactor is certain of, and what the
// maintained rules find in text, in order of their place.
func (d *Detector) Find(text string) []Finding {
	s := d.search(text)
	s.known(func(rule, _ string, _ int) bool { return rule == secret.ExactRule })
	s.maintained(context.Background(), text, 0)
	told := map[int]bool{} // what lies on the same line is most often the same again
	for _, f := range s.found {
		told[f.Line] = true
	}
	s.known(func(rule, value string, line int) bool { return !told[line] && secret.Certain(rule, value) })
	return s.sorted()
}

// search collects what is found in one text.
type search struct {
	*Detector
	text string

	mu    sync.Mutex
	found []Finding
}

func (d *Detector) search(text string) *search { return &search{Detector: d, text: text} }

// add takes a value once per line, whatever rules find it there.
func (s *search) add(rule, value string, line, col int) {
	f := Finding{Rule: rule, Line: line, Col: col, Fingerprint: secret.Fingerprint(rule, value)}
	id := digits(f.Fingerprint)
	same := func(o Finding) bool { return o.Line == line && digits(o.Fingerprint) == id }
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.allow[id] && !slices.ContainsFunc(s.found, same) {
		s.found = append(s.found, f)
	}
}

// known adds what the stream redactor takes out, as far as it is wanted.
func (s *search) known(wanted func(rule, value string, line int) bool) {
	line, begin, at := 1, 0, 0 // the line that at is in, and where it begins
	for _, sp := range s.exact.AppendSpans(nil, []byte(s.text)) {
		passed := s.text[at:sp.Start]
		line += strings.Count(passed, "\n")
		if k := strings.LastIndexByte(passed, '\n'); k >= 0 {
			begin = at + k + 1
		}
		at = sp.Start
		if wanted(sp.Rule, s.text[sp.Start:sp.End], line) {
			s.add(sp.Rule, s.text[sp.Start:sp.End], line, sp.Start-begin+1)
		}
	}
}

// maintained adds what the maintained rules find in a part of the text that has
// this many lines before it.
func (s *search) maintained(ctx context.Context, part string, before int) {
	for _, f := range s.awake().DetectContext(ctx, gitleaks.Fragment{Raw: part}) { //nolint:staticcheck // v8 has no other form yet
		if k := strings.LastIndex(f.Match, f.Secret); k >= 0 && secret.Digest([]byte(f.Match[:k]), []byte(f.Secret)) {
			continue
		}
		line, col := f.StartLine+1, max(f.StartColumn, 1)
		if line > 1 {
			col = max(col-1, 1) // the detector counts the line break before
		}
		if k := strings.Index(f.Match, f.Secret); k > 0 && !strings.Contains(f.Match[:k], "\n") {
			col += k
		}
		s.add(f.RuleID, f.Secret, before+line, col)
	}
}

func (s *search) sorted() []Finding {
	slices.SortStableFunc(s.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Rule, b.Rule))
	})
	return s.found
}
