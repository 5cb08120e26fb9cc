package detach

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// What a reader takes in its own time arrives whole and in order.
func TestStreamArrivesWhole(t *testing.T) {
	r, w := pipe(t)
	s := NewStream(w, func(n int64) { t.Errorf("%d bytes lost", n) })
	var want bytes.Buffer
	for i := range 3000 {
		line := strings.Repeat(string(rune('a'+i%26)), i%700) + "\n"
		want.WriteString(line)
		if n, err := s.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(r)
		got <- all
	}()
	s.Close()
	w.Close()
	if all := <-got; !bytes.Equal(all, want.Bytes()) {
		t.Errorf("%d bytes arrived, want %d", len(all), want.Len())
	}
}

// A reader that takes nothing stops nobody; what is dropped is told once there is room
// again.
func TestStreamWithoutAReader(t *testing.T) {
	r, w := pipe(t)
	var lost atomic.Int64
	s := NewStream(w, func(n int64) { lost.Add(n) })
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	const written = 8
	for range written {
		if n, err := s.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(r)
		got <- all
	}()
	s.Close()
	w.Close()
	if all := <-got; int64(len(all))+lost.Load() != written<<20 || lost.Load() == 0 || len(all) < 2<<20 {
		t.Errorf("%d bytes arrived and %d were told lost, of %d", len(all), lost.Load(), written<<20)
	}
}

// A reader that never takes anything does not keep a program from ending.
func TestStreamGivesUp(t *testing.T) {
	r, w := pipe(t)
	s := NewStream(w, func(int64) {})
	s.patience = time.Millisecond
	s.Write(make([]byte, 1<<20))
	s.Close()
	r.Close() // lets the writer go
	<-s.done
}

// A reader that has gone is no error, now or later.
func TestStreamAfterItsReader(t *testing.T) {
	r, w := pipe(t)
	s := NewStream(w, func(n int64) { t.Errorf("%d bytes lost", n) })
	r.Close()
	for range 10 {
		if _, err := s.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		for len(s.moved) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	s.Close()
}
