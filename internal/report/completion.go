package report

import (
	"bufio"
	"fmt"
	"path"
	"strings"

	"orchestrate/internal/ledger"
)

// Block is what the completion block says, for programs.
type Block struct {
	Spec       string   `json:"spec"`
	Report     string   `json:"report"`  // path of report.md
	Jobs       string   `json:"jobs"`    // succeeded/total/failed or blocked
	Arbiter    string   `json:"arbiter"` // the verdict, or NotEnded
	Checks     string   `json:"checks"`
	Unresolved []string `json:"unresolvedQuestions"`
}

// NotEnded stands where the verdict will be of a run that has not ended.
const NotEnded = "not ended"

func (r Report) block() Block {
	b := Block{
		Spec: r.SpecPath, Report: path.Join(r.RunDir, ledger.ReportFile),
		Jobs:    fmt.Sprintf("%d/%d/%d", r.Totals.Succeeded, r.Totals.Total, r.Totals.Failed+r.Totals.Blocked),
		Arbiter: r.Verdict, Checks: r.checksSaid() + r.mark(), Unresolved: orEmpty(r.Unresolved),
	}
	if r.interim() {
		b.Arbiter = NotEnded
	}
	return b
}

// Completion is the block that ends report.md and the standard output of run and wait.
func (r Report) Completion() string {
	var text strings.Builder
	p := page{bufio.NewWriter(&text)}
	b := r.block()
	p.say("**Orchestrate Result**")
	p.say("- Spec: %s", prose(b.Spec))
	p.say("- Report: %s", prose(b.Report))
	p.say("- Jobs: %s", b.Jobs)
	p.say("- Arbiter: %s", b.Arbiter)
	p.say("- Checks: %s", b.Checks)
	p.say("\nUnresolved questions:")
	p.bullets("", b.Unresolved)
	if len(b.Unresolved) == 0 {
		p.say("- None")
	}
	_ = p.Flush() // which nothing can go wrong with
	return text.String()
}
