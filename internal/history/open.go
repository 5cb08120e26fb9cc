package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A history is nobody's work: what is wrong with it is said, and no run waits for it.

// patience is for how long a writer waits for others, each of which takes one write.
const patience = 30 * time.Second

// open opens the history without waiting for anybody, and refuses all but a regular file:
// in a pipe or a device nothing is kept, and it may give nothing for ever.
func open(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|atOnce, 0o600)
	if err != nil {
		return nil, wrong(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file; move it away, and the next run begins a new one")
	}
	if err != nil {
		return nil, errors.Join(wrong(name, err), f.Close())
	}
	return f, nil
}

// wrong says once which file it is about.
func wrong(name string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == name {
		err = at.Err
	}
	return fmt.Errorf("history %s: %w", name, err)
}

// lock waits for the lock, which is given back when the file is closed.
func lock(f *os.File, most time.Duration) error {
	for until := time.Now().Add(most); ; time.Sleep(5 * time.Millisecond) {
		got, err := tryLock(f)
		if got || err != nil {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("another process has held its lock for %s", most)
		}
	}
}
