package capture

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orchestrate/internal/secret"
)

const value = "s3cr3t-Value-42"

func create(t testing.TB, limit int64, red *secret.Redactor) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout.txt")
	w, err := Create(path, limit, red)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func write(t testing.TB, w *Writer, p []byte) {
	t.Helper()
	if n, err := w.Write(p); n != len(p) || err != nil {
		t.Fatalf("write: %d, %v", n, err)
	}
}

func flush(t testing.TB, w *Writer) {
	t.Helper()
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// finish closes w and returns what it left behind.
func finish(t testing.TB, w *Writer, path string) (string, int64) {
	t.Helper()
	dropped, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".tail"); !os.IsNotExist(err) {
		t.Errorf("the tail file is still there: %v", err)
	}
	return read(t, path), dropped
}

func TestSmallOutputIsKeptWhole(t *testing.T) {
	w, path := create(t, 0, secret.New([]string{value}))
	write(t, w, []byte("héllo\n"))
	write(t, w, []byte("my "+value+"\nno newline at the end"))
	got, dropped := finish(t, w, path)
	if got != "héllo\nmy [REDACTED:exact]\nno newline at the end" || dropped != 0 {
		t.Errorf("%q, %d dropped", got, dropped)
	}
}

func TestNoOutput(t *testing.T) {
	w, path := create(t, 0, secret.New(nil))
	flush(t, w)
	if got, dropped := finish(t, w, path); got != "" || dropped != 0 {
		t.Errorf("%q, %d", got, dropped)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v: others may read it", info, err)
	}
}

var marker = regexp.MustCompile(`\n\[… (\d+) bytes dropped …\]\n`)

func TestHeadAndTailAreKept(t *testing.T) {
	for _, red := range []*secret.Redactor{nil, secret.New([]string{value})} {
		const limit = 200 << 10
		w, path := create(t, limit, red)
		var all bytes.Buffer
		for k := range 100_000 {
			fmt.Fprintf(&all, "line %d ü\n", k)
		}
		all.WriteString("the last line")
		for p := range bytesOf(all.Bytes(), 3000) {
			write(t, w, p)
		}
		got, dropped := finish(t, w, path)
		at := marker.FindStringSubmatchIndex(got)
		if at == nil {
			t.Fatal("no marker")
		}
		head, tail := got[:at[0]], got[at[1]:]
		if !strings.HasPrefix(all.String(), head) || !strings.HasSuffix(all.String(), tail) || !strings.HasSuffix(tail, "\nthe last line") {
			t.Error("head or tail are not those of the stream")
		}
		if n := int64(all.Len() - len(head) - len(tail)); n != dropped || got[at[2]:at[3]] != strconv.FormatInt(n, 10) {
			t.Errorf("%d bytes are missing, %d reported, %s in the marker", n, dropped, got[at[2]:at[3]])
		}
		if len(head)+len(tail) > limit || len(head) < limit/2-alignLine || len(tail) < limit/3 {
			t.Errorf("kept %d and %d of %d", len(head), len(tail), limit)
		}
		if !utf8.ValidString(got) {
			t.Error("cut within a character")
		}
	}
}

// bytesOf yields b in pieces of n bytes.
func bytesOf(b []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			k := min(n, len(b))
			if !yield(b[:k]) {
				return
			}
			b = b[k:]
		}
	}
}

func TestOneByteMoreThanFits(t *testing.T) {
	for _, extra := range []int{0, 1} {
		w, path := create(t, 1000, nil)
		write(t, w, bytes.Repeat([]byte("x"), 1000+extra))
		got, dropped := finish(t, w, path)
		if (dropped > 0) != (extra > 0) || strings.Contains(got, "dropped") != (extra > 0) {
			t.Errorf("%d bytes of 1000: %d dropped, %q", 1000+extra, dropped, got)
		}
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	w, path := create(t, 0, secret.New(nil))
	write(t, w, []byte("a\xffb\xe2\x82\n\x00ok € "))
	write(t, w, []byte{0xe2})
	write(t, w, []byte{0x82, 0xac})
	if got, _ := finish(t, w, path); got != "a\ufffdb\ufffd\ufffd\n\x00ok € €" {
		t.Errorf("%q", got)
	}
}

func TestFloodNeedsLittleMemory(t *testing.T) {
	w, path := create(t, 0, secret.New([]string{value}))
	chunk := []byte(strings.Repeat("a line with "+value+" in it\n", 9000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range 256 {
		write(t, w, chunk)
		if k%64 == 0 {
			flush(t, w)
		}
	}
	_, dropped := finish(t, w, path)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d bytes were allocated to drop %d", got, dropped)
	}
}

func TestLongLineOfWideCharacters(t *testing.T) {
	text := strings.Repeat("é€😀", 30_000)
	for _, red := range []*secret.Redactor{nil, secret.New(nil)} {
		w, path := create(t, 1<<20, red)
		for p := range bytesOf([]byte(text), 7777) {
			write(t, w, p)
			flush(t, w)
		}
		if got, dropped := finish(t, w, path); got != text || dropped != 0 {
			t.Errorf("changed: %d of %d bytes, %d dropped, %d replaced", len(got), len(text), dropped, strings.Count(got, "\ufffd"))
		}
	}
}

func TestBinaryFloodIsBounded(t *testing.T) {
	w, path := create(t, 8192, nil)
	for range 1000 {
		write(t, w, bytes.Repeat([]byte{0xff, 0xfe}, 500))
	}
	if got, _ := finish(t, w, path); len(got) > 8192+100 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}

// TestSecretIsNeverOnDisk puts secrets in every form at every place of the
// stream, split in every way, and looks at the disk after every flush.
func TestSecretIsNeverOnDisk(t *testing.T) {
	quoted, err := json.Marshal("tab\t" + value)
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{
		value, string(quoted), base64.StdEncoding.EncodeToString([]byte("user:" + value)),
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password=" + value,
	}
	parts := []string{"s3cr", "-Value", "lue-42", "16C7e", "178B4a", "zZWNyM3Q", "VmFsdWUtND", "M2NyM3Q", "LVZhbHVl"}
	red := secret.New([]string{value})
	for _, form := range forms {
		for cut := 1; cut < len(form); cut++ {
			path := filepath.Join(t.TempDir(), "f")
			w, err := Create(path, 2000, red)
			if err != nil {
				t.Fatal(err)
			}
			for round := range 30 {
				write(t, w, []byte(strings.Repeat("filler ", 10+round)+form[:cut]))
				flush(t, w)
				check(t, path, parts)
				write(t, w, []byte(form[cut:]+"\n"))
				flush(t, w)
				check(t, path, parts)
			}
			if _, err := w.Close(); err != nil {
				t.Fatal(err)
			}
			check(t, path, parts)
		}
	}
}

// TestTailBeginsInASecret floods with secrets that are much longer than their
// marks, so that the ring itself begins within one.
func TestTailBeginsInASecret(t *testing.T) {
	red := secret.New(nil)
	for filler := range 40 {
		w, path := create(t, 8000, red)
		for range 400 {
			write(t, w, []byte(strings.Repeat(".", filler)+"sk-ant-"+strings.Repeat("Ab3xZ9", 500)+"\n"))
		}
		got, dropped := finish(t, w, path)
		if strings.Contains(got, "Ab3x") || dropped == 0 || !strings.HasSuffix(got, "[REDACTED:anthropic-key]\n") {
			t.Fatalf("%d dropped:\n%s", dropped, got)
		}
	}
}

func check(t *testing.T, path string, parts []string) {
	t.Helper()
	for _, file := range []string{path, path + ".tail"} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // no tail yet
		}
		for _, part := range parts {
			if bytes.Contains(b, []byte(part)) {
				t.Fatalf("%s shows %q:\n%s", filepath.Base(file), part, b)
			}
		}
	}
}

func TestTailIsOnDiskAfterFlush(t *testing.T) {
	w, path := create(t, 1000, nil)
	for k := range 1000 {
		write(t, w, fmt.Appendf(nil, "line %d\n", k))
	}
	flush(t, w)
	if tail := read(t, path+".tail"); !strings.HasSuffix(tail, "\nline 999\n") || len(tail) > 1000 {
		t.Errorf("%q", tail)
	}
	if head := read(t, path); !strings.HasPrefix(head, "line 0\nline 1\n") {
		t.Errorf("%q", head)
	}
	write(t, w, []byte("short\n"))
	flush(t, w)
	if tail := read(t, path+".tail"); !strings.HasSuffix(tail, "\nline 999\nshort\n") {
		t.Errorf("%q", tail)
	}
	finish(t, w, path)
}

func TestHeadIsOnDiskAfterFlush(t *testing.T) {
	w, path := create(t, 0, secret.New(nil))
	write(t, w, []byte("one\ntw"))
	flush(t, w)
	if got := read(t, path); got != "one\n" {
		t.Errorf("%q", got)
	}
	finish(t, w, path)
}

func TestDiskFailureIsToldAtClose(t *testing.T) {
	w, _ := create(t, 0, nil)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, w, []byte("line\n"))
	if err := w.Flush(); err == nil {
		t.Error("flush says nothing")
	}
	write(t, w, []byte("line\n"))
	if _, err := w.Close(); err == nil {
		t.Error("close says nothing")
	}
}

func TestCreateInNoDirectory(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "none", "f"), 0, nil); err == nil {
		t.Error("no error")
	}
}

// TestAnyStream: whatever the stream, the writes and the limit, the file is the
// redacted stream, or a head and a tail of it.
func TestAnyStream(t *testing.T) {
	red := secret.New([]string{value})
	word := rapid.SampledFrom([]string{
		value, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password=" + value, "word ", "ünï", "\n", "\n", "x", " ", "\r\n",
		strings.Repeat("long ", 50), base64.StdEncoding.EncodeToString([]byte(value)), value[:9],
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 200).Draw(t, "words"), "")
		limit := rapid.IntRange(50, 6000).Draw(t, "limit")
		path := filepath.Join(dir, "f")
		w, err := Create(path, int64(limit), red)
		if err != nil {
			t.Fatal(err)
		}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
			if rapid.Bool().Draw(t, "flush") {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		dropped, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, want := string(b), red.String(text)
		if dropped == 0 {
			if got != want {
				t.Fatalf("got  %q\nwant %q", got, want)
			}
			return
		}
		at := marker.FindStringIndex(got)
		if at == nil || !strings.HasPrefix(want, got[:at[0]]) || !strings.HasSuffix(want, got[at[1]:]) {
			t.Fatalf("got  %q\nof   %q", got, want)
		}
		if len(got)-(at[1]-at[0]) > limit {
			t.Fatalf("kept %d of %d", len(got)-(at[1]-at[0]), limit)
		}
	})
}
