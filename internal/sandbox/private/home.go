package private

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// cacheHome is the folder of the person's caches; "" = none.
func cacheHome(getenv func(string) string) string {
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return under(getenv("HOME"), ".cache")
}

// configHome is the folder of the person's settings; "" = none.
func configHome(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return under(getenv("HOME"), ".config")
}

// set is a setting, or what holds without it.
func set(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

// under is a path below an absolute one; "" stays "".
func under(dir, name string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, name)
}

// errNoFile is for what is no plain file, or too large a one.
var errNoFile = errors.New("no plain file of a sensible size")

// regular reads a plain file of at most so many bytes. A job may have put anything in its
// place: a pipe would be waited for.
func regular(path string, most int64) ([]byte, error) {
	f, err := openNow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s: %w", path, errNoFile)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
