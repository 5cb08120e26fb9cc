package secret

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxDotenv is the size in bytes up to which a .env file is read.
const maxDotenv = 1 << 20

// FromDotenv returns the usable values in the .env* files directly under root:
// those of secret-looking names, and of other names whatever is no plain URL,
// path or text. An error names the file that could not be read.
func FromDotenv(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(root), ".env*"))
	if err != nil {
		return nil, fmt.Errorf("list .env files in %s: %w", root, err)
	}
	var values []string
	for _, file := range files {
		text, err := readRegular(file)
		if err != nil {
			return nil, fmt.Errorf("read %s for its secrets: %w; make it readable or move it away", file, err)
		}
		values = append(values, dotenvValues(text)...)
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

// escapeGlob takes the meaning from the pattern characters in a path.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readRegular returns a file's text, or nothing when it is no regular file: a
// directory of that name is a Python environment, a pipe would block.
func readRegular(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		if os.IsNotExist(err) {
			return "", nil // a dangling link holds no secret
		}
		return "", err
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDotenv+1))
	if err == nil && len(text) > maxDotenv {
		err = fmt.Errorf("larger than %d bytes", maxDotenv)
	}
	return string(text), err
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
	if !Usable(value) || looksPath(value) {
		return found
	}
	if !LooksSecretName(name) && (strings.Contains(value, "://") || strings.ContainsAny(value, " \t")) {
		return found
	}
	found = append(found, value)
	if strings.Contains(value, `\`) {
		found = append(found, strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(value))
	}
	return found
}
