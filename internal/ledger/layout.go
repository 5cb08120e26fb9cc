package ledger

import (
	"path"
	"strconv"
)

// Names in a run directory. The supervisor, which links no ledger, spells those that
// it writes itself, and spec lists all as ids that no job may have.
const (
	SpecFile       = "spec.yaml"      // the bytes the user gave
	JobsFile       = "jobs.yaml"      // resolved, every default explicit
	DefaultsFile   = "defaults.yaml"  // the bytes of the repository's file
	RuntimesFile   = "runtimes.json"  // this run's profiles
	StateFile      = "state.json"     // readable snapshot
	JournalFile    = "journal.jsonl"  // every transition and normalized event
	ApprovalsFile  = "approvals.json" // what was approved, by whom
	ReportFile     = "report.md"
	ReportJSONFile = "report.json"
	ReportHTMLFile = "report.html"
	SoFarFile      = "report-so-far.html" // the page of a run that has not ended, as of when somebody asked for it
	CheckoutFile   = "checkout.json"      // what the shared checkout is compared with
	ReclaimedFile  = "reclaimed.json"     // what `clean` took away of the run, and where it was saved
	RunLockFile    = "run.lock"           // held by the run's owner, says who that is
	WorktreesDir   = "worktrees"
	AgentsFile     = "agents.json"  // what the hosting session said of its agents
	RequestMDFile  = "request.md"   // the request in a person's words that the spec was made from
	HandoffLock    = "handoff.lock" // held for a moment by whoever takes a request or hands a result in
)

// Names in a job's directory.
const (
	PromptFile      = "prompt.md"
	CommandFile     = "command.txt"
	EnvironmentFile = "environment.txt" // names only
	StdoutFile      = "stdout.txt"
	StderrFile      = "stderr.txt"
	OutputFile      = "output.md" // the final answer
	StatusFile      = "status.json"
	SessionFile     = "session.json"
	EventsFile      = "events.jsonl" // written by the supervisor
	ExitFile        = "exit.json"    // written by the supervisor
	PatchFile       = "changes.patch"
	DiffstatFile    = "diffstat.txt" // how much of each file changes.patch changes
	InputsDir       = "inputs"
	ArtifactsDir    = "artifacts"
	ChecksDir       = "checks"
	SetupDir        = "setup"        // what set its worktree up, kept as checks are
	AttemptLockFile = "attempt.lock" // held by whoever owns the attempt's process tree
)

// Names in the directory of a job that the hosting session carries out: they belong to
// its newest attempt, as all that is there. internal/handoff has their forms.
const (
	RequestFile    = "request.json"    // written by the engine: what is to be done
	LeaseFile      = "lease.json"      // written by `next`: who has it, until when
	SubmissionFile = "submission.json" // written by `submit`: what came back
	ResultFile     = "result.md"       // written by `submit`: the final answer, redacted
)

// The arbiter's directory is that of a job, with three files more.
const (
	ArbiterJob       = "arbiter"
	EvidenceFile     = "evidence.md"
	AnswerSchemaFile = "answer.schema.json" // the form of its answer, for a runtime that holds it to one
	VerdictFile      = "verdict.json"
)

// IntegrationJob is the directory of what `integrate` left, kept like that of a job: a
// later integration is another attempt. IntegrationFile is integrate.Integration.
const (
	IntegrationJob  = "integration"
	IntegrationFile = "integration.json"
	IntentFile      = "intent.json" // where the target is being moved to; gone once it is there
)

// Where run directories are, from the workspace root.
const (
	ReportsDir  = "plans/reports"
	runPrefix   = "orchestrate-"
	HistoryFile = "orchestrate-history.jsonl"
	SalvageDir  = "orchestrate-salvage" // what `clean` saved, patches to read and apply
	ignoreFile  = ".gitignore"
)

// JobPath is the slash-separated path, from the run directory, of something in
// a job's directory.
func JobPath(job string, rel ...string) string {
	return path.Join(append([]string{job}, rel...)...)
}

// AttemptDir names the folder of an older attempt in its job's directory.
func AttemptDir(n int) string { return attemptPrefix + strconv.Itoa(n) }

const attemptPrefix = "attempt-"

// CheckPath is the path, from the run directory, of a file of check n (from 1)
// of a job; ext is out, err or json.
func CheckPath(job string, n int, ext string) string {
	return JobPath(job, ChecksDir, strconv.Itoa(n)+"."+ext)
}

// SetupPath is CheckPath for set-up command n of a job's worktree.
func SetupPath(job string, n int, ext string) string {
	return JobPath(job, SetupDir, strconv.Itoa(n)+"."+ext)
}

// TreeName names the worktree of attempt n of a job, below worktrees/ and in
// its branch: the id, and for a later attempt .a<n> behind it.
func TreeName(job string, n int) string {
	if n <= 1 {
		return job
	}
	return job + ".a" + strconv.Itoa(n)
}

// BranchName is the branch of attempt n of a job.
func BranchName(prefix, runID, job string, n int) string {
	return prefix + "/" + runID + "/" + TreeName(job, n)
}
