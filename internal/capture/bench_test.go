package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/secret"
)

// A flood is what a child writes that does not stop.
const flood = 256 << 20

// pour runs body on the reading end of a pipe into which a flood is written.
func pour(b *testing.B, body func(r io.Reader)) {
	b.Helper()
	chunk := bytes.Repeat([]byte("an ordinary line of output, as a test writes it\n"), 1<<16/48)
	b.SetBytes(flood)
	for b.Loop() {
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			var err error
			for left := flood; left > 0 && err == nil; left -= len(chunk) {
				_, err = w.Write(chunk)
			}
			failed <- err
			w.Close()
		}()
		body(r)
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// each reads r in chunks of 256 KiB.
func each(r io.Reader, use func([]byte)) {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		use(buf[:n])
		if err != nil {
			return
		}
	}
}

// BenchmarkFlood compares the writer with the least that bounds a stream: keep
// the first bytes, drop the rest. Both in one run, for the machine's mood.
func BenchmarkFlood(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		pour(b, func(r io.Reader) {
			head := make([]byte, 0, DefaultMax)
			each(r, func(p []byte) { head = append(head, p[:min(len(p), cap(head)-len(head))]...) })
		})
	})
	b.Run("write", func(b *testing.B) {
		red := secret.New([]string{value})
		path := filepath.Join(b.TempDir(), "f")
		pour(b, func(r io.Reader) {
			w, err := Create(path, 0, red)
			if err != nil {
				b.Fatal(err)
			}
			each(r, func(p []byte) { _, _ = w.Write(p) })
			if _, err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkTinyJob is a stream of one line, as most are.
func BenchmarkTinyJob(b *testing.B) {
	red := secret.New([]string{value})
	path := filepath.Join(b.TempDir(), "f")
	b.ReportAllocs()
	for b.Loop() {
		w, err := Create(path, 0, red)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = w.Write([]byte("ok\n"))
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	chunk := bytes.Repeat([]byte("an ordinary line of output, as a test writes it\n"), 1<<18/48)
	var n int
	l := NewLines(0, func([]byte) { n++ }, func(int64) {})
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = l.Write(chunk)
	}
}
