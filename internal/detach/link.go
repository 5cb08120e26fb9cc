package detach

import (
	"encoding/json"
	"os"
	"sync"
)

// link is one end of the control socket.
type link struct {
	file *os.File

	mu  sync.Mutex
	enc *json.Encoder
}

func newLink(f *os.File) *link { return &link{file: f, enc: json.NewEncoder(f)} }

// send tells the other side, which may have gone: that is no failure of this one.
func (l *link) send(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.enc.Encode(m)
}

// receive hands on what the other side says, until it has gone.
func (l *link) receive() <-chan Message {
	all := make(chan Message, 8)
	go func() {
		defer close(all)
		for dec := json.NewDecoder(l.file); ; {
			var m Message
			if dec.Decode(&m) != nil {
				return
			}
			all <- m
		}
	}()
	return all
}
