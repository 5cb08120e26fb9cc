package secret

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCopyAcrossReads(t *testing.T) {
	const value = "Xq7-2bVt9LmPz4RwKd8H"
	red := New([]string{value})
	wrapped := base64.StdEncoding.EncodeToString([]byte("some text before " + value + " and behind it"))
	wrapped = wrapped[:40] + "\n" + wrapped[40:]
	for name, text := range map[string]string{
		"one line":       strings.Repeat("x ", copyChunk/2-5) + value + strings.Repeat(" y", copyChunk),
		"lines":          strings.Repeat("a line of text\n", copyChunk/15) + value + "\n" + strings.Repeat("more\n", copyChunk/4),
		"base64 wrapped": strings.Repeat("a line of text\n", copyChunk/15) + wrapped + "\n" + strings.Repeat("more\n", 9),
		"at the end":     "short " + value,
	} {
		var out bytes.Buffer
		if err := red.Copy(&out, iotest.HalfReader(strings.NewReader(text))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found, err := red.Search(iotest.HalfReader(strings.NewReader(text + "\n" + text)))
		if err != nil || len(found) != 1 || found[0].Rule != ExactRule || strings.Contains(found[0].Fingerprint, value) {
			t.Errorf("%s: %+v found, %v", name, found, err)
		}
		want := red.String(text)
		if out.String() != want {
			t.Errorf("%s: %d bytes, want %d", name, out.Len(), len(want))
		}
		for _, part := range []int{700, writerPart - 7, len(text)} {
			if got := inParts(t, red, text, part); got != want {
				t.Errorf("%s, written %d bytes at a time: %d bytes, want %d", name, part, len(got), len(want))
			}
		}
	}
}

// inParts is a text written to a Writer part by part.
func inParts(t *testing.T, red *Redactor, text string, part int) string {
	t.Helper()
	var out bytes.Buffer
	w := red.Writer(&out)
	for len(text) > 0 {
		n := min(part, len(text))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCopyLeavesOrdinaryTextAlone(t *testing.T) {
	text := strings.Repeat("nothing to see here\n", copyChunk/8)
	var out bytes.Buffer
	if err := New(nil).Copy(&out, strings.NewReader(text)); err != nil || out.String() != text {
		t.Errorf("%v, %d bytes of %d", err, out.Len(), len(text))
	}
	if found, err := New(nil).Search(strings.NewReader(text)); len(found) > 0 || err != nil {
		t.Errorf("%+v found, %v", found, err)
	}
}

// TestOnlyExact also keeps what an operator allowed.
func TestOnlyExact(t *testing.T) {
	const value, shape = "Xq7-2bVt9LmPz4RwKd8H", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	text := "\x00" + value + "\x01" + shape + "\x02"
	if got := New([]string{value}).OnlyExact().String(text); got != "\x00[REDACTED:exact]\x01"+shape+"\x02" {
		t.Errorf("%q", got)
	}
	if got := NewAllowing([]string{value}, []string{Fingerprint(ExactRule, value)}).OnlyExact().String(text); got != text {
		t.Errorf("%q", got)
	}
}
