package cli

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v4"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
)

// outlined is what a view needs of jobs.yaml. The spec itself is not read: it may name
// files that have gone since.
type outlined struct {
	Concurrency int
	Budget      struct {
		USD    float64
		Tokens int64
		Wall   string
	}
	Arbiter struct{ Mode string }
	Jobs    []struct {
		ID        string
		After     []string `yaml:"depends_on"`
		Serialize string
		Runtime   string
		Command   []string
		Effect    string
		Pattern   struct {
			Item *struct {
				Of     string
				Number int
				Value  string // JSON
			}
			Gather   *struct{ Kind string }
			AfterAll bool `yaml:"after_all"`
		}
	}
}

// outline reads what the spec of a run says of its jobs.
func outline(run *ledger.Run) (ui.Outline, error) {
	data, err := run.ReadFile(ledger.JobsFile)
	if err != nil {
		return ui.Outline{}, err
	}
	var s outlined
	if err := yaml.Unmarshal(data, &s); err != nil {
		return ui.Outline{}, fmt.Errorf("%s: %w", run.Path(ledger.JobsFile), err)
	}
	o := ui.Outline{Slots: s.Concurrency, Arbiter: s.Arbiter.Mode == "required", USD: s.Budget.USD, Tokens: s.Budget.Tokens}
	if s.Budget.Wall != "" {
		if o.Wall, err = time.ParseDuration(s.Budget.Wall); err != nil {
			return ui.Outline{}, fmt.Errorf("%s: %w", run.Path(ledger.JobsFile), err)
		}
	}
	for _, j := range s.Jobs {
		p := ui.Planned{
			ID: j.ID, After: j.After, Serialize: j.Serialize, Runtime: j.Runtime, Program: len(j.Command) > 0, Writes: j.Effect != "observe",
			AfterAll: j.Pattern.AfterAll, Gathers: j.Pattern.Gather != nil,
		}
		if i := j.Pattern.Item; i != nil {
			p.List, p.Number, p.Item = i.Of, i.Number, ui.Item([]byte(i.Value))
		}
		o.Jobs = append(o.Jobs, p)
	}
	return o, nil
}
