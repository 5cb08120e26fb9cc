package ledger

import (
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/untrusted"
)

// Runtimes is runtimes.json: the profiles of this run, by runtime which part of our
// environment its processes get, and what this host's sandbox was seen to enforce.
type Runtimes struct {
	SchemaVersion int                    `json:"schemaVersion"`
	Profiles      []runtime.Profile      `json:"profiles"`
	Environments  map[string]Environment `json:"environments"`
	Sandbox       sandbox.Level          `json:"sandbox"`
}

// Checkout is checkout.json: what the shared checkout is compared with.
type Checkout struct {
	SchemaVersion int           `json:"schemaVersion"`
	At            time.Time     `json:"at"`
	Checkout      CheckoutState `json:"checkout"`
}

// CheckoutState is workspace.Fingerprint as it is recorded.
type CheckoutState struct {
	Head    string            `json:"head"`    // commit, "" for a plain folder
	Entries map[string]string `json:"entries"` // path -> state; of a checkout only those that differ from Head
	Partial bool              `json:"partial"` // the folder was too large to see it all
}

// Environment names variables, never their values. What a job allows besides, by
// env_allow, is in jobs.yaml.
type Environment struct {
	Passed   []string `json:"passed"`
	Withheld []string `json:"withheld"`
}

// Session is a job's session.json: what is needed to speak to the same session again.
type Session struct {
	SchemaVersion int    `json:"schemaVersion"`
	Job           string `json:"job"`
	Attempt       int    `json:"attempt"`
	Runtime       string `json:"runtime"`
	SessionID     string `json:"sessionId"` // "" = the runtime has none or did not say
	Model         string `json:"model"`     // observed, else requested
	Cwd           string `json:"cwd"`       // absolute; sessions belong to a folder
	ResumedFrom   string `json:"resumedFrom"`
	// ResumeOf names whose session it goes on with: JOB, or RUN/JOB of another run; "" = nobody's.
	ResumeOf string `json:"resumeOf"`
	Access   string `json:"access"`   // of its route: what a session that goes on may do
	Worktree string `json:"worktree"` // absolute top of its tree, "" = the shared checkout
	Commit   string `json:"commit"`   // snapshot of what it left there, "" = none
	// InputTokens and OutputTokens are all that the session has used by now, in earlier jobs
	// too; nil = the runtime did not say.
	InputTokens  *int64 `json:"inputTokens"`
	OutputTokens *int64 `json:"outputTokens"`
}

// CheckResult is checks/<n>.json.
type CheckResult struct {
	SchemaVersion int `json:"schemaVersion"`
	Check
}

// Approvals is approvals.json: what a person allowed.
type Approvals struct {
	SchemaVersion int     `json:"schemaVersion"`
	Approvals     []Given `json:"approvals"` // oldest first; those of an engine count for no later one
}

// Given is an approval with what it was given for.
type Given struct {
	Approval
	Shown string `json:"shown"` // the scope in words, redacted; given by a flag it was shown to nobody
}

// Approval allows exactly one job as it was when it was shown.
type Approval struct {
	Job    string    `json:"job"`
	Effect string    `json:"effect"`
	Digest string    `json:"digest"` // SHA-256 over everything that was approved, hex
	By     string    `json:"by"`     // flag | tty | elicitation
	At     time.Time `json:"at"`
}

// Judgement is arbiter/verdict.json: what the engine found, what the arbiter
// answered, and what follows from both.
type Judgement struct {
	SchemaVersion      int       `json:"schemaVersion"`
	RunID              string    `json:"runId"`
	Verdict            string    `json:"verdict"` // pass | fail | blocked | unreviewed | rehearsal
	Why                []string  `json:"why"`     // what kept it from being a pass
	Mode               string    `json:"mode"`    // required | checks-only
	Rehearsal          bool      `json:"rehearsal"`
	Runtime            string    `json:"runtime"` // of the arbiter, "" = none was asked
	Model              string    `json:"model"`
	Independence       string    `json:"independence"` // independent | independent: no agent produced anything | not-independent: reason | ""
	RequireIndependent bool      `json:"requireIndependent"`
	Findings           []Finding `json:"findings"` // layer 1: rules that the engine found broken
	// ChangedJudges are the jobs that changed files which judge the work: tests, build
	// and check scripts, files that a check names.
	ChangedJudges       []ChangedJudge   `json:"changedJudges"`
	Overall             string           `json:"overall"` // pass | fail | blocked as the arbiter said, "" = it did not
	Jobs                []JobVerdict     `json:"jobs"`
	Questions           []Answer         `json:"questions"`
	Contradictions      []untrusted.Text `json:"contradictions"`
	UnsupportedClaims   []untrusted.Text `json:"unsupportedClaims"`
	SafetyGaps          []untrusted.Text `json:"safetyGaps"`
	UnresolvedQuestions []untrusted.Text `json:"unresolvedQuestions"`
	At                  time.Time        `json:"at"`
}

// Finding is one broken rule of layer 1.
type Finding struct {
	Rule   string `json:"rule"`
	Job    string `json:"job"` // "" = the run
	Detail string `json:"detail"`
	// Evidence names what shows it: paths in the run directory.
	Evidence []string `json:"evidence"`
}

// ChangedJudge is a job and what it changed of the files that judge its work.
type ChangedJudge struct {
	Job   string   `json:"job"`
	Paths []string `json:"paths"`
}

// JobVerdict is what the arbiter says of one job.
type JobVerdict struct {
	Job       string         `json:"job"`
	Verdict   string         `json:"verdict"` // pass | fail | unsure
	Why       untrusted.Text `json:"why"`
	Citations []Citation     `json:"citations"`
	// Assertions are the arbiter's words on the job's `assert` checks.
	Assertions []Assertion `json:"assertions"`
}

// Assertion is the arbiter's word on one `assert` check of a job.
type Assertion struct {
	Name  string         `json:"name"`  // of the check
	Holds string         `json:"holds"` // yes | no | unsure
	Why   untrusted.Text `json:"why"`
}

// Citation is evidence that the arbiter named, and whether it is there.
type Citation struct {
	Kind  string `json:"kind"` // file | artifact | command | commit
	Ref   string `json:"ref"`
	Found bool   `json:"found"` // as the engine verified it
}

// Answer is the arbiter's to one of the nine questions.
type Answer struct {
	N        int            `json:"n"` // 1..9
	Question string         `json:"question"`
	Answer   string         `json:"answer"` // yes | no | unsure
	Why      untrusted.Text `json:"why"`
	Passes   bool           `json:"passes"`
}
