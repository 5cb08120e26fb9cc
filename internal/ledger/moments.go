package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockMoments makes and takes a lock that is only ever held for moments, and waits for it.
// waiting says for whom, should ctx end before.
func lockMoments(ctx context.Context, path, waiting string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	for {
		ok, err := lockFile(f)
		switch {
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case ok:
			return f.Close, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s: %w", waiting, ctx.Err()), f.Close())
		case <-time.After(patienceStep):
		}
	}
}

// LockWorker takes the lock of a worker run under which a call of it begins, and waits for
// it: whoever has it sees every call that began, and no other begins meanwhile.
func LockWorker(ctx context.Context, dir string) (release func() error, err error) {
	return lockMoments(ctx, filepath.Join(dir, WorkerLock), "another call begins in "+dir)
}
