// Package detect looks for secrets in what people and agents hand in: specs,
// prompts, inputs, patches and final answers. It is thorough and slow (1 to 3
// MB/s, and some 100 ms to start); streams are the business of package secret.
package detect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	rules *gitleaks.Detector
	exact *secret.Redactor
	allow map[string]bool
}

// New returns a detector of the maintained rules and of the exact values given
// (those that are secret.Usable). Findings whose fingerprint is in allow are
// left out.
func New(exact, allow []string) (*Detector, error) {
	cfg, err := defaults()
	if err != nil {
		return nil, fmt.Errorf("load the rules of the secret detector: %w", err)
	}
	d := &Detector{rules: gitleaks.NewDetector(cfg), exact: secret.New(exact), allow: map[string]bool{}}
	d.rules.MaxDecodeDepth = decodeDepth
	d.rules.IgnoreGitleaksAllow = true // a text does not get to excuse itself
	for _, fingerprint := range allow {
		d.allow[fingerprint] = true
	}
	return d, nil
}

// defaults reads the rules once: compiling them is most of the time to start.
var defaults = sync.OnceValues(func() (config.Config, error) {
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
})

// stopWords are the words of one rule's list of what is no secret.
type stopWords map[string][][]string // rule -> its lists in order

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

// Find returns the secrets in text, in order of their place.
func (d *Detector) Find(text string) []Finding {
	found, _ := d.FindContext(context.Background(), text) // only a context that ends is an error
	return found
}

// FindContext is Find with a deadline. When ctx ends first, what was found by
// then is returned with an error, and the rest of the text is not known to be free
// of secrets.
func (d *Detector) FindContext(ctx context.Context, text string) ([]Finding, error) {
	var found []Finding
	add := func(rule, value string, line, col int) {
		f := Finding{Rule: rule, Line: line, Col: col, Fingerprint: fingerprint(rule, value)}
		if !d.allow[f.Fingerprint] && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, s := range d.exact.AppendSpans(nil, []byte(text)) {
		if s.Rule == secret.ExactRule {
			line, col := place(text, s.Start)
			add(s.Rule, text[s.Start:s.End], line, col)
		}
	}
	for _, f := range d.rules.DetectContext(ctx, gitleaks.Fragment{Raw: text}) { //nolint:staticcheck // v8 has no other form yet
		line, col := f.StartLine+1, max(f.StartColumn, 1)
		if line > 1 {
			col = max(col-1, 1) // the detector counts the line break before
		}
		if k := strings.Index(f.Match, f.Secret); k > 0 && !strings.Contains(f.Match[:k], "\n") {
			col += k
		}
		add(f.RuleID, f.Secret, line, col)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	if err := ctx.Err(); err != nil {
		return found, fmt.Errorf("looking for secrets was not finished: %w", err)
	}
	return found, nil
}

func fingerprint(rule, value string) string {
	sum := sha256.Sum256([]byte(value))
	return rule + ":" + hex.EncodeToString(sum[:8])
}

// place turns an offset into line and column.
func place(text string, at int) (line, col int) {
	before := text[:at]
	return strings.Count(before, "\n") + 1, at - strings.LastIndexByte(before, '\n')
}
