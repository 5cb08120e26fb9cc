package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
	"orchestrate/internal/workspace"
)

// searchTime bounds the search of so many bytes for secrets. It is far more than
// the search takes, even on a busy machine.
func searchTime(n int) time.Duration { return time.Minute + time.Duration(n)*4*time.Microsecond }

// maxBlob is the size up to which a changed binary file is searched, in bytes.
const maxBlob = workspace.DefaultMaxPatch

// reviewPatch finds secrets in a writer's patch and gives back what may be kept of
// it on disk. What the writer added is held against it; what was there before is
// only left out. A patch of which something is left out can be read, not applied.
func (r *run) reviewPatch(ctx context.Context, a *attempt, patch []byte, s *settlement) ([]byte, error) {
	text := string(patch)
	h := hiding{lines: map[int]bool{}, hunks: map[int]bool{}, files: map[int]bool{}, redact: r.redact.String}
	limit, cancel := context.WithTimeout(ctx, searchTime(len(text)))
	defer cancel()
	found, err := r.detect.FindContext(limit, side(text, whatIsAdded))
	if err != nil {
		h.all = true
		s.injected("the patch of %d bytes was not searched to the end: %v", len(patch), err)
	}
	for _, f := range found {
		h.hunks[f.Line] = true
		s.injected("%s in line %d of the patch (fingerprint %s)", f.Rule, f.Line, f.Fingerprint)
	}
	for _, of := range []func(patchLine) bool{before, after} {
		r.markLines(side(text, of), h.lines)
	}
	if err := r.reviewBinaries(ctx, a, text, &h, s); err != nil {
		return nil, err
	}
	shown := h.display(text)
	if shown == text {
		return patch, nil
	}
	s.displayOnly = true
	return []byte(shown), nil
}

// injected holds a secret against the writer.
func (s *settlement) injected(format string, args ...any) {
	s.facts.InjectedSecret = append(s.facts.InjectedSecret, fmt.Sprintf(format, args...))
}

// markLines marks the lines of a text on which a secret lies.
func (r *run) markLines(text string, lines map[int]bool) {
	line, at := 1, 0
	for _, sp := range r.redact.AppendSpans(nil, []byte(text)) {
		line += strings.Count(text[at:sp.Start], "\n")
		for k := range strings.Count(text[sp.Start:sp.End], "\n") + 1 {
			lines[line+k] = true
		}
		at = sp.Start
	}
}

// reviewBinaries searches the content of the binary files that a patch changes,
// which the patch holds in an encoding of its own.
func (r *run) reviewBinaries(ctx context.Context, a *attempt, patch string, h *hiding, s *settlement) error {
	var files []*patchFile
	patchLines(patch, func(l patchLine) {
		if l.file.binary && (len(files) == 0 || files[len(files)-1] != l.file) {
			files = append(files, l.file)
		}
	})
	for _, f := range files {
		had, err := r.searchBlob(ctx, a, f.old)
		if err != nil {
			return err
		}
		has, err := r.searchBlob(ctx, a, f.new)
		if err != nil {
			return err
		}
		h.files[f.line] = len(had)+len(has) > 0
		for _, v := range has {
			known := func(o detect.Finding) bool { return o.Fingerprint == v.Fingerprint && o.Rule != notSearched }
			if !slices.ContainsFunc(had, known) {
				s.injected("%s in the binary file of line %d of the patch (fingerprint %s)", v.Rule, f.line, v.Fingerprint)
			}
		}
	}
	return nil
}

// notSearched is the rule of a file that was not searched to its end.
const notSearched = "not searched to the end"

// searchBlob finds secrets in a file as git keeps it; none where there is no file.
func (r *run) searchBlob(ctx context.Context, a *attempt, blob string) ([]detect.Finding, error) {
	if blob == "" {
		return nil, nil
	}
	data, whole, err := a.at.tree.Blob(ctx, blob, maxBlob)
	if err != nil {
		return nil, err
	}
	if !whole {
		return []detect.Finding{{Rule: notSearched, Fingerprint: "none"}}, nil
	}
	return r.searchBinary(ctx, data), nil
}

// searchBinary finds known values anywhere in data, and whatever looks like a
// secret in its readable stretches; text in UTF-16 is read too.
func (r *run) searchBinary(ctx context.Context, data []byte) (found []detect.Finding) {
	for _, sp := range r.redact.AppendSpans(nil, data) {
		if sp.Rule == secret.ExactRule {
			found = append(found, detect.Finding{Rule: sp.Rule, Fingerprint: secret.Fingerprint(sp.Rule, string(data[sp.Start:sp.End]))})
		}
	}
	text := readable(data)
	if bytes.IndexByte(data, 0) >= 0 {
		text += readable(bytes.ReplaceAll(data, []byte{0}, nil))
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime(len(text)))
	defer cancel()
	more, err := r.detect.FindContext(ctx, text)
	if err != nil {
		more = append(more, detect.Finding{Rule: notSearched, Fingerprint: "none"})
	}
	return unique(append(found, more...))
}

// unique keeps the first finding of each value.
func unique(found []detect.Finding) (all []detect.Finding) {
	for _, f := range found {
		if !slices.ContainsFunc(all, func(o detect.Finding) bool { return o.Fingerprint == f.Fingerprint }) {
			all = append(all, f)
		}
	}
	return all
}

// leastReadable is the length from which a stretch of printable bytes is text.
const leastReadable = 6

// readable are the stretches of printable ASCII in data, one per line.
func readable(data []byte) string {
	var b strings.Builder
	start := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && (data[i] >= ' ' && data[i] < 0x7f || data[i] == '\t') {
			continue
		}
		if i-start >= leastReadable {
			b.Write(data[start:i])
			b.WriteByte('\n')
		}
		start = i + 1
	}
	return b.String()
}
