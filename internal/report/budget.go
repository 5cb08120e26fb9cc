package report

import "orchestrate/internal/shellword"

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
