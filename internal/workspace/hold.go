package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/untrusted"
)

// lookAgain is how often somebody who waits for a lock tries it.
const lookAgain = 50 * time.Millisecond

// coarse is by how much the time of a file may lag behind the clock.
const coarse = 10 * time.Millisecond

// folderLock is the lock of a workspace that is no repository, beside its runs.
const folderLock = "plans/reports/.orchestrate-checkout.lock"

// LockCheckout makes the caller the only writer in the shared checkout, until the
// file and every copy of its descriptor are closed. who tells others who that is.
// While another has it, waiting is called once with what that one said.
func (r *Repo) LockCheckout(ctx context.Context, who string, waiting func(holder string)) (*os.File, error) {
	dir := filepath.Join(r.common, "orchestrate")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the lock of the checkout %s: %w", r.Top(), err)
	}
	return lockFor(ctx, filepath.Join(dir, "checkout"), who, waiting)
}

// LockFolder is LockCheckout for a workspace that is no repository.
func LockFolder(ctx context.Context, dir, who string, waiting func(holder string)) (*os.File, error) {
	return lockFor(ctx, filepath.Join(dir, filepath.FromSlash(folderLock)), who, waiting)
}

// OtherWriter says whether somebody has, or has had since then, the lock of the
// checkout, and who that was.
func (r *Repo) OtherWriter(since time.Time) (who string, there bool) {
	return otherWriter(filepath.Join(r.common, "orchestrate", "checkout"), since)
}

// OtherWriterIn is OtherWriter for a workspace that is no repository.
func OtherWriterIn(dir string, since time.Time) (who string, there bool) {
	return otherWriter(filepath.Join(dir, filepath.FromSlash(folderLock)), since)
}

func otherWriter(path string, since time.Time) (who string, there bool) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", false // nobody ever had it
	}
	defer f.Close()
	info, err := f.Stat()
	free, lockErr := tryLock(f)
	if err == nil && lockErr == nil && free && info.ModTime().Before(since.Add(-coarse)) {
		return "", false
	}
	who, err = note(f)
	if err != nil {
		who = "unknown"
	}
	return who, true
}

// lockFor takes the lock of a checkout and leaves in it who has it.
func lockFor(ctx context.Context, path, who string, waiting func(holder string)) (*os.File, error) {
	f, err := hold(ctx, path, waiting)
	if err != nil {
		return nil, fmt.Errorf("waiting for another writer in the checkout (%s): %w", path, err)
	}
	if err := rewrite(f, who+"\n"); err != nil {
		return nil, errors.Join(fmt.Errorf("the lock of the checkout: %w", err), f.Close())
	}
	return f, nil
}

// hold takes the lock on a file, which it makes if need be, as soon as nobody has
// it. The lock belongs to the open file: it ends when the last copy of the
// descriptor is closed, in whatever process.
func hold(ctx context.Context, path string, waiting func(holder string)) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		taken, err := tryLock(f)
		if taken {
			return f, nil
		}
		if err == nil && tries == 1 && waiting != nil { // by now it has said who it is
			var holder string
			if holder, err = note(f); err == nil {
				waiting(holder)
			}
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		}
	}
}

// rewrite replaces what a lock's file says.
func rewrite(f *os.File, text string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// note is what a lock's file says, fit to be shown.
func note(f *os.File) (string, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 500))
	return untrusted.From(string(data)).Line(300), err
}
