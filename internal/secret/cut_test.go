package secret

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// stream redacts text that comes in the given writes, cutting only at SafeCut.
func stream(red *Redactor, writes [][]byte) []byte {
	var held, out []byte
	emit := func(cut int) {
		out = append(out, red.Bytes(held[:cut])...)
		held = held[cut:]
	}
	for _, w := range writes {
		held = append(held, w...)
		emit(red.SafeCut(held, red.AppendSpans(nil, held)))
	}
	emit(len(held))
	return out
}

// split cuts text into writes whose sizes follow the bytes of sizes.
func split(text, sizes []byte) [][]byte {
	var writes [][]byte
	for k := 0; len(text) > 0; k++ {
		n := len(text)
		if k < len(sizes) {
			n = min(n, 1+int(sizes[k]))
		}
		writes = append(writes, text[:n])
		text = text[n:]
	}
	return writes
}

func TestStreamEqualsWhole(t *testing.T) {
	red := New([]string{"s3cr3t-Value-42", "two lines 4\nof one value"})
	var text strings.Builder
	for _, s := range shapes {
		text.WriteString("some line\n" + s.text + "\n")
	}
	text.WriteString("with s3cr3t-Value-42 and two lines 4\nof one value, and the end")
	whole := red.Bytes([]byte(text.String()))
	for size := range 40 {
		writes := split([]byte(text.String()), bytes.Repeat([]byte{byte(size)}, text.Len()))
		if got := stream(red, writes); !bytes.Equal(got, whole) {
			t.Fatalf("writes of %d bytes: got\n%s\nwant\n%s", size+1, got, whole)
		}
	}
}

// TestSafeCutShowsNothingEarly looks at what is released after every write.
func TestSafeCutShowsNothingEarly(t *testing.T) {
	const value = "s3cr3t-Value-42"
	red := New([]string{value})
	block := fold(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a line of text\n", 2)+"twelve chars"+"ghp_16C7e42F292c6912E7710c838347Ae178B4a\n")), 64, "\n")
	if !strings.Contains(block, "Z2hwXzE2\nQzdl") {
		t.Fatalf("the token is to be divided by a line's end: %s", block)
	}
	for _, text := range []string{block + "\n", "x\n" + value + "\ny\n", "k: ghp_16C7e42F292c6912E7710c838347Ae178B4a\n", rsaKey + "\n", "password=\"hunter2-xyz\"\n"} {
		for n := range len(text) {
			b := []byte(text[:n])
			out := red.Bytes(b[:red.SafeCut(b, red.AppendSpans(nil, b))])
			for _, part := range []string{"s3c", "16C7", "MIIE", "hunter2", "Z2hwXzE2", "QzdlNDJG"} {
				if bytes.Contains(out, []byte(part)) {
					t.Fatalf("after %q: %q is out", b, out)
				}
			}
		}
	}
}

func TestSafeCutOfALongLine(t *testing.T) {
	red := New(nil)
	b := bytes.Repeat([]byte("word "), 20_000)
	if cut := red.SafeCut(b, nil); cut != len(b)-red.Window() {
		t.Errorf("cut at %d of %d, window %d", cut, len(b), red.Window())
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add([]byte("a s3cr3t-Value-42 b"), "s3cr3t-Value-42", []byte{3, 4, 5})
	f.Add([]byte("czNjcjN0LVZhbHVlLTQy\nczNjcjN0"), "s3cr3t-Value-42", []byte{0, 0, 9})
	f.Add([]byte("line-1-abc\nline-2-def"), "line-1-abc\nline-2-def", []byte{10})
	f.Add([]byte("password=ababababab1 ababababab1"), "ababababab1", []byte{1})
	f.Add([]byte(rsaKey+"\x00\xff\xfe"), "xPqKk2Z9mG8e1Yh0", []byte{20, 40})
	for _, s := range shapes {
		f.Add([]byte(s.text+"\n"+s.text), s.hidden, []byte{7, 1, 30})
	}
	f.Fuzz(func(t *testing.T, text []byte, value string, sizes []byte) {
		value = strings.TrimSpace(value)
		red := New([]string{value})
		whole := red.Bytes(text)
		if !Usable(value) || strings.ContainsAny(value, "[]:") || strings.Contains("REDACTED", value) {
			return // a value that a mark could complete
		}
		for _, out := range [][]byte{whole, stream(red, split(text, sizes))} {
			if bytes.Contains(out, []byte(value)) {
				t.Fatalf("%q shows %q", out, value)
			}
		}
	})
}

// TestLinesThatBelongTogether are redacted as one text and stay so many.
func TestLinesThatBelongTogether(t *testing.T) {
	red := New(nil)
	lines := append([]string{"a key:"}, append(strings.Split(rsaKey, "\n"), "and ghp_16C7e42F292c6912E7710c838347Ae178B4a", "the end")...)
	got := red.Together(lines)
	want := []string{"a key:", "[REDACTED:private-key]", "[REDACTED:private-key]", "[REDACTED:private-key]", "[REDACTED:private-key]", "and [REDACTED:github-token]", "the end"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i, goesOn := range []bool{false, true, true, true, false} {
		if got := red.GoesOn(strings.Join(lines[:i+1], "\n")); got != goesOn && i != 4 {
			t.Errorf("after line %d: %v", i, got)
		}
	}
}
