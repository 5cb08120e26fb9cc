// Package failpoint names the moments of a run at which a test stops or kills the
// program: between any two steps that must not be torn apart. Without the build tag
// "faults" a hit is an empty function.
package failpoint

// The moments, each named room.step.
const (
	RunCreated   = "engine.run_created"   // the run directory is there, the journal is empty
	RunStarted   = "engine.run_started"   // its first record is durable
	IntentBefore = "engine.intent_before" // an attempt is chosen
	IntentAfter  = "engine.intent_after"  // its intent is durable
	LockTaken    = "engine.lock_taken"    // its directory and lock are there
	Placed       = "engine.placed"        // its tree is there
	Furnished    = "engine.furnished"     // prompt and command are there, the lock says with what
	HandOver     = "engine.hand_over"     // the supervisor is there and gets the invocation next
	Started      = "engine.started"       // the program runs, which no record says yet
	Exited       = "engine.exited"        // the supervisor has reported the end
	Imported     = "engine.imported"      // its events are in the journal
	Captured     = "engine.captured"      // the patch is taken
	Checked      = "engine.checked"       // the checks have run
	SettleBefore = "engine.settle_before" // how the attempt ended is known, and not recorded
	SettleAfter  = "engine.settle_after"  // it is durable, status.json is not there
	StatusThere  = "engine.status_there"  // status.json is there
	Arbitrating  = "engine.arbitrating"   // the arbiter's turn is recorded
	VerdictThere = "engine.verdict_there" // verdict.json is there
	ReportThere  = "engine.report_there"  // the report is there
	HistoryThere = "engine.history_there" // the history has the run's lines
	EndAfter     = "engine.end_after"     // run_ended is durable
	Resumed      = "engine.resumed"       // a resumed run has said so
	Reconciled   = "engine.reconciled"    // what it found of earlier attempts is recorded
	Adopting     = "engine.adopting"      // it is about to wait for a supervisor that it found alive

	RequestThere = "engine.request_there" // request.json is there, which no record says yet
	HandedOut    = "engine.awaiting"      // that the job awaits the session is durable
	HandedIn     = "engine.handed_in"     // something came back and is about to be taken in
	ParkBefore   = "engine.park_before"   // nothing can go on, which is not recorded
	ParkAfter    = "engine.park_after"    // it is durable

	ExpandBefore = "engine.expand_before" // a list is found, which no record says
	ExpandAfter  = "engine.expand_after"  // it is durable, and no job of it has begun

	IntegrateBuilt   = "integrate.built"    // the result is a commit on no branch
	IntegrateChecked = "integrate.checked"  // its checks have passed
	IntegrateIntent  = "integrate.intent"   // where the target is moved to is on disk
	IntegrateFiles   = "integrate.files"    // the checkout's files have moved, index and branch not
	IntegrateRef     = "integrate.ref"      // the branch has moved too
	IntegrateKept    = "integrate.recorded" // integration.json is there, so is the intent

	TreeRegistered = "workspace.tree_registered" // git knows the worktree, it has no files
	TreeAdded      = "workspace.tree_added"      // it has them
	PatchThere     = "workspace.patch_there"     // the patch is on disk
	SnapshotMade   = "workspace.snapshot_made"   // the snapshot commit is on no branch
	SnapshotBranch = "workspace.snapshot_branch" // it is on its branch

	JournalBefore  = "ledger.journal_before"  // records are queued
	JournalTorn    = "ledger.journal_torn"    // half of them are written
	JournalWritten = "ledger.journal_written" // they are written, perhaps not durable
	JournalSynced  = "ledger.journal_synced"  // they are durable
	SnapshotBefore = "ledger.snapshot_before" // the new state.json has a temporary name
	SnapshotAfter  = "ledger.snapshot_after"  // it has its own
	Retiring       = "ledger.retiring"        // some files of an older attempt have been moved

	HistoryBefore  = "history.before"  // the history is locked
	HistoryWritten = "history.written" // the lines are there, the lock is held

	CleanSaved        = "clean.saved"        // what a tree held has its salvage ref
	CleanAside        = "clean.aside"        // the tree has left its place, to be looked at once more
	CleanTree         = "clean.tree"         // the tree's files are gone
	CleanRegistration = "clean.registration" // git knows the tree no more
	CleanBranch       = "clean.branch"       // its branch is gone

	SuperviseFrame    = "supervise.frame"     // an invocation has come whole
	SuperviseHeld     = "supervise.held"      // the lock says who holds it, nothing runs
	SuperviseForked   = "supervise.forked"    // the program runs, the lock does not say so
	SuperviseStarted  = "supervise.started"   // the lock says so
	SuperviseOutput   = "supervise.output"    // the program has said something
	SuperviseEnded    = "supervise.ended"     // the tree is gone, exit.json is not there
	SuperviseExitFile = "supervise.exit_file" // exit.json is there, the lock is held
)

// Names are all of them that a run, or a resumed one, comes to.
var Names = []string{
	RunCreated, RunStarted, IntentBefore, IntentAfter, LockTaken, Placed, Furnished, HandOver, Started, Exited,
	Imported, Captured, Checked, SettleBefore, SettleAfter, StatusThere, Arbitrating, VerdictThere, ReportThere,
	HistoryThere, EndAfter, Resumed, Reconciled, Adopting,
	TreeRegistered, TreeAdded, PatchThere, SnapshotMade, SnapshotBranch,
	JournalBefore, JournalTorn, JournalWritten, JournalSynced, SnapshotBefore, SnapshotAfter, Retiring,
	HistoryBefore, HistoryWritten,
	SuperviseFrame, SuperviseHeld, SuperviseForked, SuperviseStarted, SuperviseOutput, SuperviseEnded, SuperviseExitFile,
}

// OfSession are those of a run with jobs of the hosting session.
var OfSession = []string{RequestThere, HandedOut, HandedIn, ParkBefore, ParkAfter}

// OfPatterns are those of a run with a list that a job of it makes.
var OfPatterns = []string{ExpandBefore, ExpandAfter}

// OfIntegrate are those of an integration, in their order.
var OfIntegrate = []string{IntegrateBuilt, IntegrateChecked, IntegrateIntent, IntegrateFiles, IntegrateRef, IntegrateKept}

// OfClean are those of a clean, in their order.
var OfClean = []string{CleanSaved, CleanAside, CleanTree, CleanRegistration, CleanBranch}
