package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// agentText is deterministic text like that of an agent: events, code, test
// output, log lines, some base64. It holds no secret.
func agentText(size int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	words := make([]string, 4000)
	for k := range words {
		w := make([]byte, 2+rnd.IntN(9))
		for i := range w {
			w[i] = byte('a' + rnd.IntN(26))
		}
		words[k] = string(w)
	}
	say := func(n int) string {
		var out bytes.Buffer
		for k := range n {
			if k > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(words[rnd.IntN(len(words))])
		}
		return out.String()
	}
	var out bytes.Buffer
	for out.Len() < size {
		switch k := rnd.IntN(100); {
		case k < 35:
			line, _ := json.Marshal(map[string]any{"type": "assistant", "session_id": say(1), "text": say(10 + rnd.IntN(70))})
			out.Write(line)
		case k < 60:
			fmt.Fprintf(&out, "\t\t%s {", say(2+rnd.IntN(10)))
		case k < 80:
			fmt.Fprintf(&out, "ok  \tgithub.com/%s/%s\t%.3fs", say(1), say(1), rnd.Float64())
		case k < 95:
			fmt.Fprintf(&out, "2026-07-30T12:10:59Z INFO %s: %s path=/src/%s.go token_count=%d", say(1), say(3+rnd.IntN(17)), say(1), rnd.IntN(9999))
		default:
			raw := make([]byte, 30+rnd.IntN(570))
			for i := range raw {
				raw[i] = byte(rnd.IntN(256))
			}
			out.WriteString(base64.StdEncoding.EncodeToString(raw))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()[:size]
}

func BenchmarkRedactor(b *testing.B) {
	text := agentText(1 << 20)
	exact := []string{"s3cr3t-Value-42-abc", "Zx9/qQ+11aBcDeFgHiJk", "postgres-Pa55word!", "0123456789abcdef0123456789abcdef"}
	red := New(exact)
	floor := make([]byte, len(text))
	b.Run("redact", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			red.Bytes(text)
		}
	})
	b.Run("index", func(b *testing.B) { // one literal, the library's search
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			bytes.Index(text, []byte("ghp_"))
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			copy(floor, text)
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			New(exact)
		}
	})
}

// BenchmarkBeside writes the same text to a file, once as it is and once redacted, in
// turns, so that a slow minute of the machine hits both.
func BenchmarkBeside(b *testing.B) {
	text := agentText(16 << 20)
	red := New([]string{"s3cr3t-Value-42-abc", "Zx9/qQ+11aBcDeFgHiJk", "postgres-Pa55word!"})
	file, err := os.Create(filepath.Join(b.TempDir(), "out"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	timed := func(write func(io.Writer) error) time.Duration {
		if _, err := file.Seek(0, 0); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if err := write(file); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	var raw, redacted time.Duration
	for b.Loop() {
		raw += timed(func(w io.Writer) error {
			_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(text)}, make([]byte, copyChunk))
			return err
		})
		redacted += timed(func(w io.Writer) error { return red.Copy(w, bytes.NewReader(text)) })
	}
	rate := func(d time.Duration) float64 { return float64(len(text)) * float64(b.N) / 1e6 / d.Seconds() }
	b.ReportMetric(rate(raw), "raw-MB/s")
	b.ReportMetric(rate(redacted), "redacted-MB/s")
}
