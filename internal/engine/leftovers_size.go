package engine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
)

// mostMeasured bounds the files of one leftover that are looked at for its size.
const mostMeasured = 300_000

// inTwos does things two at a time: more gain nothing where each waits for a disk.
func inTwos(n int, do func(i int)) {
	var next atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	both.Wait()
}

// sized is how much room a leftover takes, and when it last changed; note says where that
// is not the whole of it.
func (f *leftover) sized(ctx context.Context) (bytes int64, at time.Time, note string) {
	if f.item.Path == "" || ctx.Err() != nil {
		return 0, f.when(), ""
	}
	var leave func(string) bool
	if f.item.Kind == reclaim.KindRun { // its trees are listed by themselves
		trees := filepath.Join(f.item.Path, ledger.WorktreesDir)
		leave = func(path string) bool { return path == trees }
	}
	bytes, at, whole := measure(f.item.Path, leave)
	if !whole {
		note = fmt.Sprintf("%s holds more than %d files; its size is that of those which were looked at", f.item.Path, mostMeasured)
	}
	if when := f.when(); when.After(at) {
		at = when
	}
	return bytes, at, note
}

// when is when the attempt or the run of a leftover ended, as far as that is on record.
func (f *leftover) when() (at time.Time) {
	if f.tree != nil && f.tree.status.EndedAt != nil {
		return *f.tree.status.EndedAt
	}
	if !f.made.IsZero() {
		return f.made
	}
	if f.run == nil || f.run.led == nil {
		return at
	}
	st := f.run.led.State()
	if st.EndedAt != nil {
		return *st.EndedAt
	}
	return st.StartedAt
}

// measure adds up a folder, without following links. whole is false where it is larger
// than what is looked at. The time is that of the newest file that could be looked at.
func measure(dir string, leave func(string) bool) (bytes int64, newest time.Time, whole bool) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if n++; n > mostMeasured {
			return errTooMany
		}
		if err != nil || e == nil {
			return nil //nolint:nilerr // what cannot be looked at has no size
		}
		if leave != nil && leave(path) {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		bytes += onDisk(info)
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return nil
	})
	if info, statErr := os.Lstat(dir); statErr == nil && newest.IsZero() {
		newest = info.ModTime()
	}
	return bytes, newest.UTC(), err == nil
}
