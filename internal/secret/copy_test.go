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
		n, err := red.Copy(&out, iotest.HalfReader(strings.NewReader(text)))
		if err != nil || n != 1 {
			t.Errorf("%s: %d found, %v", name, n, err)
		}
		if want := red.String(text); out.String() != want {
			t.Errorf("%s: %d bytes, want %d", name, out.Len(), len(want))
		}
	}
}

func TestCopyLeavesOrdinaryTextAlone(t *testing.T) {
	text := strings.Repeat("nothing to see here\n", copyChunk/8)
	var out bytes.Buffer
	n, err := New(nil).Copy(&out, strings.NewReader(text))
	if n != 0 || err != nil || out.String() != text {
		t.Errorf("%d found, %v, %d bytes of %d", n, err, out.Len(), len(text))
	}
}
