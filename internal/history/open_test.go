//go:build unix && !nolocks

package history

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOnlyARegularFileIsAHistory(t *testing.T) {
	for name, c := range map[string]struct {
		make func(name string) error
		want string
	}{
		"a pipe":             {func(name string) error { return syscall.Mkfifo(name, 0o600) }, "no regular file"},
		"a directory":        {func(name string) error { return os.Mkdir(name, 0o700) }, "directory|regular file"},
		"a link to a device": {func(name string) error { return os.Symlink(os.DevNull, name) }, "no regular file"},
		"a link to nowhere": {func(name string) error {
			return os.Symlink(filepath.Join(filepath.Dir(name), "gone", "x"), name)
		}, "no such file"},
	} {
		root := workspace(t)
		if err := c.make(Path(root)); err != nil {
			t.Fatal(err)
		}
		_, read := Scan(root, 0, func(Line) {})
		if name == "a link to nowhere" { // as good as none
			if read != nil {
				t.Errorf("%s: %v", name, read)
			}
		} else if !says(read, Path(root), c.want) {
			t.Errorf("%s: read: %v", name, read)
		}
		for _, add := range []func(string, []Line) error{Append, AppendOnce} {
			if err := add(root, Lines("r", "pass", jobs(1), nil, at)); !says(err, Path(root), c.want) {
				t.Errorf("%s: append: %v", name, err)
			}
		}
	}
}

// says reports whether an error names the file once, and one of the words.
func says(err error, file, words string) bool {
	if err == nil || strings.Count(err.Error(), file) != 1 {
		return false
	}
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(err.Error(), word) {
			return true
		}
	}
	return false
}

func TestALockThatIsNeverGivenBackIsNotWaitedFor(t *testing.T) {
	root := workspace(t)
	held, err := open(Path(root), os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := lock(held, time.Second); err != nil {
		t.Fatal(err)
	}
	other, err := open(Path(root), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := lock(other, time.Millisecond); err == nil || !strings.Contains(err.Error(), "held its lock") {
		t.Errorf("%v", err)
	}
}
