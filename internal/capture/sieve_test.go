package capture

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestSieve(t *testing.T) {
	mark := func(lines, bytes int) string {
		return fmt.Sprintf("[… %d lines with pieces of texts left out, %d bytes …]\n", lines, bytes)
	}
	long := `{"long":"` + strings.Repeat("y", 100) + `"}`
	for name, c := range map[string]struct{ in, want string }{
		"nothing":             {"", ""},
		"all kept":            {"a\n{\"b\":1}\r\n\nlast", "a\n{\"b\":1}\r\n\nlast"},
		"between":             {"{\"a\":1}\n{x}\n{x}\r\n{\"b\":2}\n{x}\nc\n", "{\"a\":1}\n" + mark(2, 9) + "{\"b\":2}\n" + mark(1, 4) + "c\n"},
		"at the end":          {"a\n{\"x\":1}", "a\n" + mark(1, 7)},
		"a last line":         {"{x}\n{\"a\":1}", mark(1, 4) + "{\"a\":1}"},
		"torn":                {"a\n{\"a\":\"half of", "a\n" + mark(1, 13)},
		"not at the front":    {" {x}\na{x}\n", " {x}\na{x}\n"},
		"too long for a look": {"{x}\n" + long + "\n{x}\n" + long, mark(1, 4) + long + "\n" + mark(1, 4) + long},
	} {
		for size := 1; size <= len(c.in)+1; size++ {
			var got bytes.Buffer
			s := NewSieve(40, func(p []byte) { got.Write(p) }, func(line []byte) bool { return bytes.Contains(line, []byte("x")) })
			for rest := []byte(c.in); len(rest) > 0; {
				n := min(size, len(rest))
				if k, err := s.Write(rest[:n]); k != n || err != nil {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			s.Close()
			if got.String() != c.want {
				t.Fatalf("%s, in writes of %d: %q, want %q", name, size, got.String(), c.want)
			}
		}
	}
}

func TestSieveWithoutEnd(t *testing.T) {
	kept := 0
	s := NewSieve(0, func(p []byte) { kept += len(p) }, func([]byte) bool { t.Error("was looked at"); return true })
	chunk := []byte("{" + strings.Repeat("x", 1<<20))
	for range 9 {
		if _, err := s.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if cap(s.part) > 3*DefaultMaxLine {
			t.Fatalf("holds %d", cap(s.part))
		}
	}
	s.Close()
	if kept != 9*len(chunk) {
		t.Errorf("%d bytes are kept", kept)
	}
}
