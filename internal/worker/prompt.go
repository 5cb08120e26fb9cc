package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"orchestrate/internal/spec"
)

// prompt is the text that a task is asked with, from where it says that it is.
func (r *reading) prompt(i int, own fields) string {
	switch {
	case own.has("prompt") && own.has("prompt_file"):
		r.fail(i, "prompt_file", "prompt", "both prompt and prompt_file are given; keep one")
	case own.has("prompt"):
		return r.sound(i, "prompt", own.text("prompt"))
	case own.has("prompt_file"):
		return r.promptFile(i, own.text("prompt_file"))
	case !own.has("join"):
		r.fail(i, "prompt", "required", "prompt is missing; give it here or in a file (prompt_file)")
	}
	return ""
}

// promptFile reads a prompt from a file, which is relative to the manifest.
func (r *reading) promptFile(i int, name string) string {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.opts.Dir, name)
	}
	data, err := readPrompt(path)
	if err != nil {
		r.fail(i, "prompt_file", "file", fmt.Sprintf("the file %q %v; allowed: a text file, relative to %s", name, err, r.opts.Dir))
		return ""
	}
	text := r.sound(i, "prompt_file", string(data))
	if r.opts.Secrets != nil {
		for _, s := range r.opts.Secrets(text) {
			r.fail(i, "prompt_file", "secret", fmt.Sprintf("line %d of %q: %s", max(1, s.Line), name, refused(s)))
		}
	}
	return text
}

func readPrompt(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("is not there")
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() > spec.MaxBytes:
		return nil, tooLong(int(info.Size()))
	}
	return os.ReadFile(path)
}

func tooLong(n int) error {
	return fmt.Errorf("has %d bytes; at most %d (%d MiB) of a prompt are read: put what is long into files that the prompt names", n, spec.MaxBytes, spec.MaxBytes>>20)
}

// sound holds that a prompt can be handed over as it is.
func (r *reading) sound(i int, key, text string) string {
	switch {
	case len(text) > spec.MaxBytes:
		r.fail(i, key, "size", "it "+tooLong(len(text)).Error())
	case !utf8.ValidString(text):
		r.fail(i, key, "encoding", "it is not UTF-8 text")
	case strings.ContainsRune(text, 0):
		r.fail(i, key, "encoding", "it has a zero byte in it, which no program takes as part of a prompt")
	case strings.TrimSpace(text) == "":
		r.fail(i, key, "required", "it is empty; allowed: a prompt")
	}
	return text
}

// refused says of a find what it is, and the way past a false alarm.
func refused(s spec.Secret) string {
	return fmt.Sprintf("this looks like a secret (rule %s) and is refused; give it to the task through the environment (env_allow). If it is none, list %q under secrets.allow in the operator's configuration", s.Rule, s.Fingerprint)
}
