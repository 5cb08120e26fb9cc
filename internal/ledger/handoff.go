package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LockHandoff takes the lock of a run directory under which jobs are taken by the hosting
// session and handed in again, and waits for it: it is held for moments. It is no
// owner's lock, and may be taken while an engine carries the run on.
func LockHandoff(ctx context.Context, dir string) (release func() error, err error) {
	release, err = lockMoments(ctx, filepath.Join(dir, HandoffLock), "somebody else takes a job of "+dir+" or hands one in")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("a job can be neither taken nor handed in, since the run directory cannot be written: %w", err)
	}
	return release, err
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
