package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LockHandoff takes the lock of a run directory under which jobs are taken by the hosting
// session and handed in again, and waits for it: it is held for moments. It is no
// owner's lock, and may be taken while an engine carries the run on.
func LockHandoff(ctx context.Context, dir string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, HandoffLock), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("a job can be neither taken nor handed in, since the run directory cannot be written: %w", err)
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
			return nil, errors.Join(fmt.Errorf("somebody else takes a job of %s or hands one in: %w", dir, ctx.Err()), f.Close())
		case <-time.After(patienceStep):
		}
	}
}

// WriteHandoff puts a file of the hosting session into a job's directory: whole or not at
// all, and on the disk when it returns. Who calls it holds LockHandoff, and need not own
// the run. fs.ErrNotExist when the job has no directory any more.
func (r *Run) WriteHandoff(job, name string, data []byte) error {
	dir, err := r.OpenDir(job)
	if err != nil {
		return err
	}
	defer dir.Close()            //nolint:errcheck // what was written is synced
	temp := "." + name + ".part" // one for all: they come one after the other
	if err := dir.RemoveAll(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.RemoveAll(temp))
	}
	return nil
}
