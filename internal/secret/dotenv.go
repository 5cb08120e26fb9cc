package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxDotenv is the size in bytes up to which a .env file is read.
const maxDotenv = 1 << 20

// FromDotenv returns the usable values in the .env* files directly under root: those
// of secret-looking names, of other names what a machine has made, and passwords in
// URLs. What is written as an example for others counts by its shape alone, here not
// at all. Notes name what could not be read: a file that is no text, or not ours. An
// error names one that is too large.
func FromDotenv(root string) (values, notes []string, err error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(root), ".env*"))
	if err != nil {
		return nil, nil, fmt.Errorf("list .env files in %s: %w", root, err)
	}
	for _, file := range files {
		if example(filepath.Base(file)) {
			continue
		}
		text, why, err := readRegular(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s for its secrets: %w; make it smaller or move it away", file, err)
		}
		if why != "" {
			notes = append(notes, fmt.Sprintf("values in %s are not known as secrets, only what has the shape of one is: %s", file, why))
		}
		values = append(values, dotenvValues(text)...)
	}
	slices.Sort(values)
	return slices.Compact(values), notes, nil
}

// example reports whether a file of this name is a committed pattern for others.
func example(name string) bool {
	for _, word := range []string{"example", "sample", "template", "dist", "defaults"} {
		if strings.Contains("."+strings.NewReplacer("-", ".", "_", ".").Replace(strings.ToLower(name))+".", "."+word+".") {
			return true
		}
	}
	return false
}

// escapeGlob takes the meaning from the pattern characters in a path.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readRegular returns a file's text, or nothing when it is no regular file: a
// directory of that name is a Python environment, a pipe would block. why says what
// kept it from being read.
func readRegular(file string) (text, why string, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", "", nil // a dangling link holds no secret
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(file)
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", "it may not be read", nil
	}
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDotenv+1))
	switch {
	case err != nil:
		return "", "", err
	case bytes.IndexByte(data, 0) >= 0:
		return "", "it is no text", nil
	case len(data) > maxDotenv:
		return "", "", fmt.Errorf("larger than %d bytes", maxDotenv)
	}
	return string(data), "", nil
}

// dotenvValues reads NAME=value lines with the usual quotes; a double-quoted
// value may go over lines.
func dotenvValues(text string) []string {
	var values []string
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if q := openQuote(value); q != "" {
			var more string
			if more, text, ok = strings.Cut(text, q); ok {
				value += "\n" + more + q
			}
		}
		values = append(values, candidates(strings.TrimSpace(name), unquote(value))...)
	}
	return values
}

// openQuote returns the quote that a value opens and does not close.
func openQuote(value string) string {
	for _, q := range []string{`"`, `'`} {
		if strings.HasPrefix(value, q) && strings.Count(value, q)%2 == 1 {
			return q
		}
	}
	return ""
}

// unquote takes off quotes, or from a bare value its comment.
func unquote(value string) string {
	for _, q := range []string{`"`, `'`} {
		if rest, ok := strings.CutPrefix(value, q); ok {
			if k := strings.LastIndex(rest, q); k >= 0 {
				return rest[:k]
			}
			return rest
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

// candidates are the values to redact of one line: as written, with \n
// expanded, and the passwords of URLs.
func candidates(name, value string) []string {
	found := urlPasswords(value)
	if !Usable(value) || looksPath(value) || !LooksSecretName(name) && !machineMade(value) {
		return found
	}
	found = append(found, value)
	if strings.Contains(value, `\`) {
		found = append(found, strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(value))
	}
	return found
}

// machineMade reports whether a value is random rather than chosen: long, of letters and
// digits, and not put together from words and numbers, as the names of hosts, models,
// images and regions are. It is neither a URL nor prose.
func machineMade(value string) bool {
	if !random([]byte(value), 16) || strings.Contains(value, "://") || strings.ContainsAny(value, " \t") {
		return false
	}
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-._/:@,", r) }) {
		p := []byte(part)
		if random(p, 16) || len(p) >= 8 && has(p, lowerCase) && has(p, upperCase) && has(p, digits) {
			return true
		}
	}
	return false
}
