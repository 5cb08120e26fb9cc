package capture

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	const text = "one\r\n\ntwo \r x\nexactly8\nmore than eight\nexactly8\r\nlast"
	want := []string{"one", "", "two \r x", "exactly8", "exactly8", "last"}
	for size := 1; size <= len(text); size++ {
		var got []string
		var over []int64
		l := NewLines(8, func(b []byte) { got = append(got, string(b)) }, func(n int64) { over = append(over, n) })
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if k, err := l.Write(rest[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		l.Close()
		if !slices.Equal(got, want) || !slices.Equal(over, []int64{15}) {
			t.Fatalf("writes of %d: %q, oversize %v", size, got, over)
		}
	}
}

func TestLinesWithoutEnd(t *testing.T) {
	var over int64
	l := NewLines(0, func(b []byte) { t.Errorf("a line of %d", len(b)) }, func(n int64) { over = n })
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 9 {
		if _, err := l.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if cap(l.part) > 3*DefaultMaxLine {
			t.Fatalf("holds %d", cap(l.part))
		}
	}
	l.Close()
	if over != 9<<20 {
		t.Errorf("oversize %d", over)
	}
}

func TestLinesOfNothing(t *testing.T) {
	l := NewLines(0, func([]byte) { t.Error("a line") }, func(int64) { t.Error("oversize") })
	l.Close()
}
