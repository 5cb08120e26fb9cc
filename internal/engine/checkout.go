package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// holdCheckout waits until no other run writes in the shared checkout, if the attempt
// is going to. The supervisor holds the lock too, so that it outlives this engine.
func (r *run) holdCheckout(ctx context.Context, a *attempt) (err error) {
	if !a.job.Writes() || a.route.Isolation == isolationWorktree {
		return nil
	}
	who := fmt.Sprintf("job %s of run %s (%s)", a.job.ID, r.led.ID, r.led.Dir)
	a.checkout, err = r.lockCheckout(ctx, who, func(holder string) {
		a.turn.Leave()
		r.note(ledger.Noted(a.job.ID, r.redact.String("waits for the checkout, in which another writer is at work: "+holder)))
	})
	return err
}

// holdCheckoutAgain does it for an attempt that an engine before began, until its
// patch is taken.
func (r *run) holdCheckoutAgain(ctx context.Context, a *attempt) {
	if !a.at.shared() {
		return
	}
	who := fmt.Sprintf("job %s of run %s (%s)", a.job.ID, r.led.ID, r.led.Dir)
	var err error
	a.checkout, err = r.lockCheckout(ctx, who, func(holder string) {
		r.note(ledger.Noted(a.job.ID, r.redact.String("its patch waits for the checkout, in which another writer is at work: "+holder)))
	})
	if err != nil { // the run is being ended: what is there is taken all the same
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
}

// otherWriter says who else has had the right to write in the shared checkout since
// then. What changed meanwhile cannot be held against a job that only looked.
func (r *run) otherWriter(since time.Time) (string, bool) {
	if r.plan.Repo != nil {
		return r.plan.Repo.OtherWriter(since)
	}
	return workspace.OtherWriterIn(r.plan.Root, since)
}

// ownWork parts changes that an adopted attempt may have made from those that were
// made when its program had ended, which nobody watched.
func (r *run) ownWork(a *attempt, names []string) (own, others []string) {
	root := r.plan.Root
	if r.plan.Repo != nil {
		root = r.plan.Repo.Top()
	}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil && !a.exit.EndedAt.IsZero() && info.ModTime().After(a.exit.EndedAt) {
			others = append(others, name)
		} else {
			own = append(own, name)
		}
	}
	return own, others
}

// changedUnwatched lists what an adopted attempt changed in the shared checkout, if it
// alone ran from its beginning on and had no business there.
func (r *run) changedUnwatched(ctx context.Context, a *attempt) []string {
	if r.unwatched == nil || !a.alone || !r.compared(a) || heldBy(a.route) != "" {
		return nil
	}
	now, err := r.fingerprint(context.WithoutCancel(ctx))
	if err != nil {
		r.tell(fmt.Sprintf("the checkout could not be compared after job %s: %v", a.job.ID, err))
		return nil
	}
	var own []string
	before, now := sameRefs(*r.unwatched, now)
	for _, name := range before.Diff(now) {
		if _, err := os.Lstat(filepath.Join(r.plan.top(), filepath.FromSlash(name))); err == nil {
			own = append(own, name) // what is gone, or is no file, cannot be told apart by its time
		}
	}
	own, _ = r.ownWork(a, own)
	return own
}

// recallCheckout reads what the engine before compared the checkout with. Nothing is
// there when it died before anything had started.
func (r *run) recallCheckout() error {
	data, err := r.led.ReadFile(ledger.CheckoutFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var before ledger.Checkout
	if err = errors.Join(err, json.Unmarshal(data, &before)); err != nil {
		return fmt.Errorf("what the checkout was like before cannot be read: %w", err)
	}
	fp := workspace.Fingerprint(before.Checkout)
	r.unwatched, r.unwatchedSince = &fp, before.At
	return nil
}

func (r *run) lockCheckout(ctx context.Context, who string, waiting func(string)) (*os.File, error) {
	if r.plan.Repo != nil {
		return r.plan.Repo.LockCheckout(ctx, who, waiting)
	}
	return workspace.LockFolder(ctx, r.plan.Root, who, waiting)
}

// mostEntries bounds checkout.json; of a larger folder that is no repository a
// resumed run cannot say what changed while no engine watched it.
const mostEntries = 20_000

// watchCheckout records the shared checkout, so that what changes in it is seen. In a
// run that goes on, what changed while no engine was there is told.
func (r *run) watchCheckout(ctx context.Context) error {
	now, err := r.fingerprint(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil // interrupted before anything could start
		}
		return fmt.Errorf("the checkout could not be recorded before the run: %w", err)
	}
	if now.Partial {
		r.tell("the workspace has too many files to compare all of them before and after: a change may go unseen")
	}
	if r.resumed {
		r.compareUnwatched(now)
	}
	r.mu.Lock()
	r.before = &now
	r.mu.Unlock()
	return r.writeCheckout()
}

// compareUnwatched tells what changed in the checkout between the engine before and
// this one, beside what writers in it are known to have changed.
func (r *run) compareUnwatched(now workspace.Fingerprint) {
	if r.unwatched == nil {
		return
	}
	known := map[string]bool{}
	for _, j := range r.jobs {
		for _, name := range j.shared {
			known[name] = true
		}
	}
	before, now := sameRefs(*r.unwatched, now)
	changed := slices.DeleteFunc(before.Diff(now), func(name string) bool { return known[name] })
	if len(changed) == 0 {
		return
	}
	text := fmt.Sprintf("changed in the shared checkout while no engine watched it, by somebody else or by what still ran: %s", some(wasAt(before, now, changed)))
	if carried := r.underWay(); len(carried) > 0 {
		text += " (" + some(carried) + ")"
	}
	r.tellChange(text, r.unwatchedSince)
}

// writeCheckout leaves what the checkout is compared with, for an engine after this.
func (r *run) writeCheckout() error {
	r.mu.Lock()
	before := r.before
	r.mu.Unlock()
	if before == nil || len(before.Entries) > mostEntries {
		return nil
	}
	return r.led.WriteJSON(ledger.CheckoutFile, ledger.Checkout{
		SchemaVersion: ledger.SchemaVersion, At: r.eng.Now().UTC(), Checkout: ledger.CheckoutState(*before),
	})
}
