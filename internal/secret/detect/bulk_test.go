package detect

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestMuchTextIsSearchedWhole(t *testing.T) {
	d := mustNew(t, []string{"s3cr3t-Value-42"}, nil)
	var b strings.Builder
	want := map[int]string{}
	for line := 1; line <= 9000; line++ {
		switch line {
		case 1, 1499, 3300, 9000:
			fmt.Fprintf(&b, "use ghp_16C7e42F292c6912E7710%05d7Ae178BxYz now", line)
			want[line] = "github-token"
		case 5000:
			b.WriteString("it is s3cr3t-Value-42")
			want[line] = "exact"
		default:
			fmt.Fprintf(&b, "line %d of an ordinary text that says nothing", line)
		}
		b.WriteByte('\n')
	}
	found, err := d.FindContext(context.Background(), b.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if want[f.Line] == "" {
			t.Errorf("line %d: %s", f.Line, f.Rule)
		}
		if want[f.Line] == f.Rule {
			delete(want, f.Line)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v in %+v", want, found)
	}
}

func TestOneLongLineIsSearchedWhole(t *testing.T) {
	d := mustNew(t, nil, nil)
	for _, at := range []int{pieceBytes - 10, pieceBytes - overlapBytes, 3*pieceBytes - 20} {
		text := strings.Repeat("x ", at/2) + token + strings.Repeat(" y", 20_000)
		if found, err := d.FindContext(context.Background(), text); err != nil || len(found) == 0 || found[0].Line != 1 {
			t.Errorf("at %d: %+v, %v", at, found, err)
		}
	}
}

func BenchmarkFindContext(b *testing.B) {
	d, err := New([]string{"s3cr3t-Value-42"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("func (s *server) handle(w io.Writer) error { return s.key.write(w, 42) } // token\n", 5_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := d.FindContext(context.Background(), text); err != nil {
			b.Fatal(err)
		}
	}
}
