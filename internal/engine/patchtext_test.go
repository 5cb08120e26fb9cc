package engine

import (
	"strings"
	"testing"

	"orchestrate/internal/secret"
)

func TestSidesOfAPatchKeepTheirLineNumbers(t *testing.T) {
	patch := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n same\n\n-old secret\n+new\n+++ counter\n" +
		"diff --git a/n b/n\nnew file mode 100644\nindex 0..3\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+first\n\\ No newline at end of file\n"
	for name, c := range map[string]struct {
		wanted func(patchLine) bool
		want   string
	}{
		"added":  {whatIsAdded, "\n\n\n\n\n\n\n\nnew\n++ counter\n\na/n b/n\n\n\n\n\nfirst\n\n"},
		"before": {before, "\n\n\n\n\nsame\n\nold secret\n\n\n\n\n\n\n\n\n\n No newline at end of file\n"},
		"after":  {after, "\n\n\n\n\nsame\n\n\nnew\n++ counter\n\n\n\n\n\n\nfirst\n No newline at end of file\n"},
	} {
		if got := side(patch, c.wanted); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestBinaryFilesOfAPatch(t *testing.T) {
	patch := "diff --git a/k b/k\nnew file mode 100644\nindex 000..abc\nGIT binary patch\nliteral 3\nKcmZQz\n\nliteral 0\nHcmV\n\n" +
		"diff --git a/t b/t\nindex 1..2 100644\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-a\n+b\n"
	var kinds strings.Builder
	patchLines(patch, func(l patchLine) {
		kinds.WriteByte("hcadb"[l.kind])
		if l.kind == lineBinary && (l.file.old != "" || l.file.new != "abc" || l.file.line != 1) {
			t.Errorf("%+v", l.file)
		}
	})
	if got := kinds.String(); got != "hhhhbbbbbbhhhhhda" {
		t.Errorf("kinds %s", got)
	}
	h := hiding{files: map[int]bool{1: true}, redact: func(s string) string { return s }}
	if got := h.display(patch); strings.Contains(got, "KcmZQz") || !strings.Contains(got, "-a\n+b\n") {
		t.Errorf("shown:\n%s", got)
	}
}

func TestDisplayCopy(t *testing.T) {
	const value = "Xq7-2bVt9LmPz4RwKd8H"
	head := "diff --git a/k b/k\n--- /dev/null\n+++ b/k\n"
	for name, c := range map[string]struct {
		h           hiding
		patch, want string
	}{
		"hunk with a secret": {
			hiding{hunks: map[int]bool{5: true}},
			head + "@@ -0,0 +1,2 @@\n+first half\n+second half\n@@ -9 +9 @@\n-old\n+harmless\n",
			head + "@@ -0,0 +1,2 @@\n+[REDACTED:injected-secret]\n+[REDACTED:injected-secret]\n@@ -9 +9 @@\n-old\n+harmless\n",
		},
		"not searched to the end": {
			hiding{all: true},
			head + "@@ -1 +1,2 @@\n-a\n+b\n+c\n", head + "@@ -1 +1,2 @@\n-a\n+[REDACTED:injected-secret]\n+[REDACTED:injected-secret]\n",
		},
		"line that was there": {
			hiding{lines: map[int]bool{5: true, 6: true}},
			head + "@@ -1,3 +1,3 @@\n token = " + value + "\n-a part of a wrapped one\n+c\n",
			head + "@@ -1,3 +1,3 @@\n token = [REDACTED:exact]\n-[REDACTED:injected-secret]\n+c\n",
		},
		"name": {
			hiding{},
			strings.ReplaceAll(head, "/k", "/"+value) + "@@ -0,0 +1 @@\n+c\n",
			strings.ReplaceAll(head, "/k", "/[REDACTED:exact]") + "@@ -0,0 +1 @@\n+c\n",
		},
		"name that only the detector knows": {
			hiding{hunks: map[int]bool{2: true}},
			"diff --git a/k b/k\nnew file mode 100644\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+c\n",
			"diff [REDACTED:injected-secret]\nnew file mode 100644\n--- [REDACTED:injected-secret]\n+++ [REDACTED:injected-secret]\n@@ -0,0 +1 @@\n+c\n",
		},
	} {
		c.h.redact = secret.New([]string{value}).String
		if got := c.h.display(c.patch); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestReadableStretches(t *testing.T) {
	if got, want := readable([]byte("\x00\x01ab\x02longer text\xffx\x00another one")), "longer text\nanother one\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
