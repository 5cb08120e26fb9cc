package reclaim

import (
	"fmt"

	"orchestrate/internal/ledger"
)

// Facts are what was found of a leftover. Whoever looks fills them; a reason that is
// empty does not hold.
type Facts struct {
	Run      string // id
	Job      string
	Kind     string
	Unknown  string // what could not be read or told
	Live     string // who may be at work with it
	Ends     string // how that comes to its end
	Foreign  string // why it is not, or no longer, as this program left it
	By       string // command with which a person can look at it, or take it away, themselves
	Again    bool   // its run has not ended, or was interrupted: a resume goes on with it
	Cut      string // that an integration of its run was cut off while it moved a branch
	Nested   string // which repository in it has commits of its own
	Given    bool   // explicitly given up, now or by a clean that was cut off
	Observer bool
	Unused   bool // nobody worked in it: it was cut off while it was made, or is only a registration
	Empty    bool // a writer's that succeeded and changed nothing
	Status   ledger.Status
	Into     string // the ref that an integration brought its work to, "" = none has it now
	Reached  string // the ref of a person that has its commit without an integration
	Replaced string // what a later attempt of its job was integrated into
	Later    bool   // a later attempt of its job succeeded, and nothing has its work yet
}

// Decision is what becomes of a leftover.
type Decision struct {
	Fate, Why, Next string
}

// Decide says what becomes of a leftover. Whatever is not known to be safe stays.
func Decide(f Facts) Decision {
	switch {
	case f.Unknown != "":
		return Decision{Keep, f.Unknown, f.By}
	case f.Live != "":
		return Decision{Keep, f.Live, f.Ends}
	case f.Foreign != "":
		return Decision{Keep, f.Foreign, f.By}
	case f.Kind == KindSalvage:
		return Decision{Keep, "it keeps what an earlier clean saved", f.By}
	case f.Cut != "": // only the run says how that is finished
		return Decision{Keep, f.Cut, "orchestrate integrate " + f.Run}
	case f.Given:
		return Decision{Remove, "it was discarded; what no other commit holds is saved first", ""}
	case f.Again:
		return Decision{Keep, "its run has not come to its end and can be resumed", fmt.Sprintf("orchestrate resume %s, or %s", f.Run, discard(f))}
	}
	if f.Nested != "" {
		return Decision{Keep, f.Nested, discard(f)}
	}
	return ended(f)
}

// ended decides about what a run left that is over.
func ended(f Facts) Decision {
	switch {
	case f.Kind == KindRun:
		return Decision{Keep, "its report and evidence are kept", discard(f)}
	case f.Kind == KindPrivate:
		return Decision{Remove, "temporary files of attempts that are over", ""}
	case f.Unused:
		return Decision{Remove, "nobody worked in it: it was cut off while it was made, or its folder is gone", ""}
	case f.Observer:
		return Decision{Remove, "its job only looked", ""}
	case f.Empty:
		return Decision{Remove, "its job changed nothing", ""}
	case f.Into != "":
		return Decision{Remove, "its work is integrated: it is in " + f.Into, ""}
	case f.Replaced != "":
		return Decision{Remove, "a later attempt of its job is integrated: it is in " + f.Replaced, ""}
	case f.Reached != "":
		return Decision{Keep, "its commit is in " + f.Reached + ", but no integration of this run says so", discard(f)}
	case f.Status == ledger.Success:
		return Decision{Keep, "its work is not integrated", fmt.Sprintf("orchestrate integrate %s, or %s", f.Run, discard(f))}
	}
	if f.Later { // giving up the job would take that with it
		return Decision{Keep, "it holds what an attempt left that did not succeed; a later one of its job did, and is not integrated", "orchestrate integrate " + f.Run}
	}
	return Decision{Keep, "it holds what an attempt left that did not succeed", discard(f)}
}

// discard is the command that gives a leftover up.
func discard(f Facts) string {
	name := f.Run
	if f.Job != "" {
		name += "/" + f.Job
	}
	return "orchestrate clean --discard " + name
}

// Settle keeps the directory of a run as long as something of the run stays: it says
// whose that is.
func Settle(items []Item) {
	stays := map[string]int{}
	for _, it := range items {
		if it.Fate == Keep && it.Kind != KindRun && it.Kind != KindSalvage {
			stays[it.Run]++
		}
	}
	for i := range items {
		it := &items[i]
		if n := stays[it.Run]; it.Kind == KindRun && it.Fate == Remove && n > 0 {
			it.Fate, it.Why, it.Next = Keep, fmt.Sprintf("it says whose the %d other leftovers are that stay", n), ""
		}
	}
}

// Sum counts the listing's bytes.
func (l *Listing) Sum() {
	l.Bytes, l.Removable = 0, 0
	for _, it := range l.Items {
		l.Bytes += it.Bytes
		if it.Fate == Remove && !it.Done {
			l.Removable += it.Bytes
		}
	}
}
