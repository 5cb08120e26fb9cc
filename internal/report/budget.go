package report

import (
	"fmt"
	"strings"

	"orchestrate/internal/figure"
	"orchestrate/internal/shellword"
)

// Budget is where the run's budget stands, as far as runtimes report what they take.
// Where a run that had used it up is resumed, it counts anew.
type Budget struct {
	USD             *float64 `json:"usd"` // the limits, null = none
	Tokens          *int64   `json:"tokens"`
	WallMs          *int64   `json:"wallMs"`
	SpentUSD        *float64 `json:"spentUsd"`    // null = nobody reported any
	SpentTokens     *int64   `json:"spentTokens"` // in and out together
	UnknownAttempts int      `json:"unknownAttempts"`
	Stopped         string   `json:"stopped"` // why the budget ended the run early, "" = it did not
}

// budgetNeeds is what a person reads of a budget that ended the run early.
func (r Report) budgetNeeds() string {
	if r.Budget == nil || r.Budget.Stopped == "" {
		return ""
	}
	line := "the run stopped at its budget: " + r.Budget.Stopped + " (cost: " + r.Usage.String() + ")"
	return withNext(line, "`orchestrate resume "+shellword.Quote(r.RunID)+"` goes on with what is left, with the budget counted anew")
}

// String is what was spent of what was allowed, "" where nothing was limited.
func (b *Budget) String() string {
	var parts []string
	if b == nil {
		return ""
	}
	if b.USD != nil {
		parts = append(parts, fmt.Sprintf("%s of $%.2f", spent("$%.4f", b.SpentUSD), *b.USD))
	}
	if b.Tokens != nil {
		parts = append(parts, spent("%d", b.SpentTokens)+" of "+figure.Count(*b.Tokens, "token"))
	}
	if b.WallMs != nil {
		parts = append(parts, took(*b.WallMs)+" of time")
	}
	text := strings.Join(parts, ", ")
	if text != "" && b.UnknownAttempts > 0 {
		text += silent(b.UnknownAttempts)
	}
	return text
}

// spent is a figure that somebody reported, or that nobody did.
func spent[N int64 | float64](format string, n *N) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *n)
}
