package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

const (
	// messageLimit bounds one message of the agent; the library breaks at 10 MiB.
	messageLimit = 8 << 20
	// garbageLimit is how much of what is no message is put up with, in bytes.
	garbageLimit = 1 << 20
	garbageShown = 10 // lines of it that are shown
)

// channel carries the messages between the agent's pipes and the library. The
// library gets requests and answers; notifications, which it would queue until the
// queue breaks, are handed on by the channel itself, each before the next message
// is looked at. The answer to our own request is taken before the end of the stream
// is noticed. What is no message, or one that is too long, is said.
type channel struct {
	toAgent   io.Writer
	fromAgent io.Reader
	library   *io.PipeWriter // where the library reads
	conn      *sdk.Connection
	hear      func(method string, params json.RawMessage)
	warn      func(string)

	mu      sync.Mutex
	request *request // of ours, that waits for its answer
	broken  error    // why nothing more is read, other than that the stream ended
	deaf    bool     // the agent takes no more input

	garbage, shown int
}

// request is one of ours.
type request struct {
	id    string
	taken chan struct{} // closed when its answer was
}

// open begins to read: hear gets the agent's notifications, answer its requests.
func open(toAgent io.Writer, fromAgent io.Reader, hear func(string, json.RawMessage), answer sdk.MethodHandler, warn func(string)) *channel {
	read, write := io.Pipe()
	c := &channel{toAgent: toAgent, fromAgent: fromAgent, library: write, hear: hear, warn: warn}
	c.conn = sdk.NewConnection(answer, c, read)
	c.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would print whole messages
	go c.pump()
	return c
}

// Write sends a message of the library to the agent.
func (c *channel) Write(message []byte) (int, error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(message, &m) == nil && m.Method != "" && len(m.ID) > 0 {
		c.mu.Lock()
		if c.request != nil {
			c.request.id = string(m.ID)
		}
		c.mu.Unlock()
	}
	n, err := c.toAgent.Write(message)
	if err != nil {
		c.mu.Lock()
		c.deaf = true
		c.mu.Unlock()
	}
	return n, err
}

// lost reports whether nothing more can come of the conversation.
func (c *channel) lost() bool {
	select {
	case <-c.conn.Done():
		return true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deaf
}

// expect announces a request; done is called when its answer was taken, or will
// not be.
func (c *channel) expect() (done func()) {
	r := &request{taken: make(chan struct{})}
	c.mu.Lock()
	c.request = r
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		c.request = nil
		c.mu.Unlock()
		close(r.taken)
	}
}

// why says what broke the channel, if it was not the agent's end.
func (c *channel) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// pump reads until the agent's output ends or cannot be gone on with.
func (c *channel) pump() {
	lines := bufio.NewReaderSize(c.fromAgent, 64<<10)
	for {
		line, err := readLine(lines)
		if err == nil {
			err = c.take(line)
		}
		if err != nil {
			c.mu.Lock()
			if !errors.Is(err, io.EOF) {
				c.broken = err
			}
			c.mu.Unlock()
			_ = c.library.Close() // of a pipe within this process: never fails
			return
		}
	}
}

// readLine reads up to the next newline. An agent that ends within a line has said
// nothing with it.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := lines.ReadSlice('\n')
		whole = append(whole, part...)
		switch {
		case len(whole) > messageLimit:
			return nil, fmt.Errorf("the agent sent a message of more than %d MiB, which is more than this client takes", messageLimit>>20)
		case err == nil:
			return bytes.TrimSpace(whole), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF // also when we have closed our end
		}
	}
}

// message is what the library knows of one; the rest of it is left as it is.
type message struct {
	ID     *json.RawMessage  `json:"id"`
	Method string            `json:"method"`
	Params json.RawMessage   `json:"params"`
	Error  *sdk.RequestError `json:"error"`
}

// take deals with one line.
func (c *channel) take(line []byte) error {
	var m message
	switch {
	case len(line) == 0:
		return nil
	case json.Unmarshal(line, &m) != nil, m.ID == nil && m.Method == "":
		return c.noMessage(line)
	case m.ID == nil:
		c.hear(m.Method, m.Params)
		return nil
	case m.Method != "":
		return c.forward(line)
	}
	c.mu.Lock()
	r := c.request
	c.mu.Unlock()
	if r == nil || r.id != string(*m.ID) {
		c.warn("the agent answered a question that was not asked")
		return nil
	}
	if err := c.forward(line); err != nil {
		return err
	}
	<-r.taken
	return nil
}

// forward gives the library a line.
func (c *channel) forward(line []byte) error {
	_, err := c.library.Write(append(line, '\n'))
	return err
}

func (c *channel) noMessage(line []byte) error {
	c.garbage += len(line) + 1
	if c.garbage > garbageLimit {
		return fmt.Errorf("the agent printed more than %d KiB that are no messages of the protocol", garbageLimit>>10)
	}
	if c.shown++; c.shown <= garbageShown {
		c.warn("the agent printed what is no message of the protocol: " + string(bytes.ToValidUTF8(line, []byte("�"))))
	}
	return nil
}
