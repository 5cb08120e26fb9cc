package policy

import (
	"fmt"
	"slices"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// MaxPromotions is how often a job may move to a declared fallback.
const MaxPromotions = 2

// Attempt is what the decision after a failure depends on, beside its reason.
type Attempt struct {
	Retry      spec.Retry
	Tries      int           // attempts already made on this runtime with this model, from 1
	Promotions int           // moves to a fallback already made
	Declared   bool          // it has declared fallbacks at all
	Timeout    time.Duration // of the job; 0 = not known
	Fallback   bool          // an untried declared fallback is left
	WorkBegun  bool          // a tool ran or the agent said something
	RetryAfter time.Duration // stated by the runtime; 0 = not stated
	Reprobed   bool          // this runtime was already probed again for such a failure
	TreeGone   bool          // the attempt's process tree is proven gone
}

// Pause says for how long a runtime gets no more starts.
type Pause string

// The pauses.
const (
	PauseNone  Pause = "none"
	PauseUntil Pause = "until" // for Decision.PauseFor from now
	PauseRest  Pause = "rest"  // for the rest of the run
)

// Decision is what follows from a failed attempt. With neither Retry nor Fallback
// the job has failed.
type Decision struct {
	Retry    bool          // the same route again, …
	After    time.Duration // … not before this long from now
	Fallback bool          // the next declared fallback that qualifies …
	OrRetry  bool          // … and if none does, the same route again after all
	Pause    Pause
	PauseFor time.Duration // of PauseRest: when its quota is back, 0 = it did not say
	Reprobe  bool          // drop the evidence about this runtime and probe it again
	Why      string        // why it is tried again or not, for a person
}

// class is one row of the failure-class table.
type class struct {
	listed   bool // may be retried when retry.on lists it
	once     bool // retried once by default if no work had begun
	fallback bool
	fresh    bool // …only if no work had begun
	pause    Pause
	reprobe  bool
}

// classOf is the failure-class table. What is not in it just fails.
func classOf(r runtime.Reason) class {
	switch r {
	case runtime.ReasonRateLimit:
		return class{listed: true, once: true, fallback: true, pause: PauseUntil}
	case runtime.ReasonQuota:
		return class{fallback: true, pause: PauseRest}
	case runtime.ReasonSessionFailed:
		return class{fallback: true, pause: PauseNone}
	case runtime.ReasonNetwork, runtime.ReasonCrash:
		return class{listed: true, fallback: true, pause: PauseNone}
	case runtime.ReasonSpawn, runtime.ReasonAuth, runtime.ReasonUnknownModel, runtime.ReasonUnknownFlag:
		return class{fallback: true, fresh: true, pause: PauseNone, reprobe: true}
	}
	return class{pause: PauseNone}
}

// Decide says what follows from a failed attempt.
func Decide(reason runtime.Reason, a Attempt) Decision {
	c := classOf(reason)
	d := Decision{Pause: c.pause, Reprobe: c.reprobe && !a.Reprobed}
	wait := max(a.Retry.Backoff, a.RetryAfter)
	switch c.pause {
	case PauseUntil:
		d.PauseFor = wait
	case PauseRest:
		d.PauseFor = a.RetryAfter
	}
	switch {
	case !a.TreeGone:
		d.Why = "nothing is started after it: its process tree is not proven gone"
	case c.retries(reason, a):
		d.Retry, d.After, d.Why = true, wait, "retried: "+string(reason)
	case !c.fallback:
		d.Why = string(reason) + " is not tried again"
	case !a.Fallback:
		d.Why = c.exhausted(reason, a)
	case c.fresh && a.WorkBegun:
		d.Why = "work had begun, so no fallback is started after " + string(reason)
	case a.Promotions >= MaxPromotions:
		d.Why = fmt.Sprintf("at most %d fallbacks are tried", MaxPromotions)
	default:
		d.Fallback, d.Why = true, "fallback after "+string(reason)
		if d.OrRetry = c.byDefault(a); d.OrRetry {
			d.After = wait
		}
	}
	return d
}

// retries reports whether the same route is tried again.
func (c class) retries(reason runtime.Reason, a Attempt) bool {
	if c.listed && slices.Contains(a.Retry.On, string(reason)) && a.Tries < a.Retry.MaxAttempts {
		return true
	}
	return c.byDefault(a) && !a.outwaited()
}

// byDefault reports whether it is tried once more although nobody said so.
func (c class) byDefault(a Attempt) bool { return c.once && a.Tries == 1 && !a.WorkBegun }

// outwaited reports whether a fallback is at hand before a wait that is longer than
// the job itself may take: nobody asked for that wait.
func (a Attempt) outwaited() bool {
	return a.Fallback && a.Promotions < MaxPromotions && a.Timeout > 0 && a.RetryAfter > a.Timeout
}

// exhausted says why nothing more is tried where no fallback is left.
func (c class) exhausted(reason runtime.Reason, a Attempt) string {
	left := "after " + string(reason)
	switch listed := slices.Contains(a.Retry.On, string(reason)); {
	case !c.listed || a.Retry.MaxAttempts <= 1:
	case listed:
		left += fmt.Sprintf(": all %d attempts are used", a.Retry.MaxAttempts)
	default:
		left += fmt.Sprintf(": %s is not in retry.on", reason)
	}
	if a.Declared {
		return "no declared fallback is left " + left
	}
	return "not tried again " + left
}
