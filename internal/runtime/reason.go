package runtime

// Reason is the class of a failure or block, from the contract's failure table.
// The empty Reason means none.
type Reason string

// Failure classes of an attempt.
const (
	ReasonRateLimit      Reason = "rate_limit"
	ReasonQuota          Reason = "quota"
	ReasonNetwork        Reason = "network"
	ReasonCrash          Reason = "crash"
	ReasonSpawn          Reason = "spawn"
	ReasonAuth           Reason = "auth"
	ReasonUnknownModel   Reason = "unknown_model"
	ReasonUnknownFlag    Reason = "unknown_flag"
	ReasonTimeout        Reason = "timeout"
	ReasonFirstOutput    Reason = "first_output"
	ReasonPermission     Reason = "permission"
	ReasonModelMismatch  Reason = "model_mismatch"
	ReasonNoCompletion   Reason = "no_completion"
	ReasonEmptyOutput    Reason = "empty_output"
	ReasonMissingOutput  Reason = "missing_output"
	ReasonCheckFailed    Reason = "check_failed"
	ReasonOwnership      Reason = "ownership_violation"
	ReasonWroteObserving Reason = "wrote_while_observing"
	ReasonInjectedSecret Reason = "injected_secret"
	ReasonBudget         Reason = "budget"
	ReasonCancelled      Reason = "cancelled" // by a person: the job is interrupted, not failed
	ReasonCutOff         Reason = "cut_off"   // the engine or the supervisor died: interrupted, not failed
	ReasonTurnCap        Reason = "turn_cap"  // the agent reached the most turns that it was allowed
	ReasonSession        Reason = "session"   // the runtime knows no session with the id that it was to go on with
	// Of jobs of a pattern.
	ReasonBadAnswer   Reason = "bad_answer"   // the answer does not hold the verdict or the list that it must
	ReasonNotVerified Reason = "not_verified" // the votes or the verifications did not accept
	ReasonTooFew      Reason = "too_few"      // fewer of those it joins succeeded than it requires
	NotNeeded         Reason = "not_needed"   // skipped, not failed: the list or the rounds ended before it
	// Of jobs that the hosting session carries out.
	ReasonSessionFailed Reason = "session_failed" // it handed the job in as failed
	ReasonStaleResult   Reason = "stale_result"   // a late result, and what it builds on has changed
	ReasonLeaseLapsed   Reason = "lease_lapsed"   // whoever took it did not come back: interrupted, not failed
)

// Reasons for which a job is blocked: it was never dispatched.
const (
	BlockedDependency   Reason = "dependency"
	BlockedNoRoute      Reason = "no_route"
	BlockedApproval     Reason = "approval"
	BlockedCapability   Reason = "capability"
	BlockedRiskControls Reason = "risk_controls"
	BlockedIndependence Reason = "independence"
	BlockedNoAnswer     Reason = "no_answer_from_arbiter"
	// An earlier attempt's processes are not proven to have ended.
	BlockedTreeUnproven Reason = "tree_unproven"
	// A list that another job made cannot be used: it is none, too long, or fills a text
	// with what may not stand there.
	BlockedExpansion Reason = "expansion"
	// The session that the job is to go on with cannot be gone on with.
	BlockedSession Reason = "session"
)
