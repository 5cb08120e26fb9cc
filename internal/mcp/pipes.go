package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// longest is how long one message of a client may be, in bytes.
const longest = 32 << 20

// pipes is the transport: a message a line. A line that is no message is answered and
// left out; the SDK's own transport ends the session with it.
type pipes struct {
	in   *bufio.Reader
	gone func() // called when the client's end is closed and what it had sent is answered

	lines chan jsonrpc.Message
	done  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	out  io.Writer
	owed int           // requests that are not answered
	even chan struct{} // not nil: closed when none is
}

func newPipes(in io.Reader, out io.Writer, gone func()) *pipes {
	return &pipes{in: bufio.NewReaderSize(in, 64<<10), out: out, gone: gone, lines: make(chan jsonrpc.Message), done: make(chan struct{})}
}

// Connect begins to read.
func (p *pipes) Connect(context.Context) (sdk.Connection, error) {
	go p.pump()
	return p, nil
}

// pump hands on what comes until the client closes its end. A read of standard input
// cannot be broken off, so this may outlast the session; the process then ends.
func (p *pipes) pump() {
	defer close(p.lines)
	defer p.gone()
	defer p.settle()
	for {
		line, whole, err := p.line()
		switch m, bad := understood(line, whole); {
		case len(line) == 0:
		case bad != nil:
			_ = p.complain(bad) // who cannot be written to does not read either
		default:
			p.came(m)
			select {
			case p.lines <- m:
			case <-p.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// came counts what wants an answer.
func (p *pipes) came(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.owed++
	}
}

// settle lets what was asked be answered, for as long as a client that has gone is waited
// for: one that sent all it had to say and closed its end still reads.
func (p *pipes) settle() {
	p.mu.Lock()
	even := make(chan struct{})
	if p.even = even; p.owed <= 0 {
		close(even)
	}
	p.mu.Unlock()
	select {
	case <-even:
	case <-p.done:
	case <-time.After(leaving):
	}
}

// line is the next line without its end; not whole if it was too long, and then only its
// beginning.
func (p *pipes) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := p.in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= longest; whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return trimmed(line), whole, err
		}
	}
}

func trimmed(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// understood is the message that a line holds, or what is wrong with it.
func understood(line []byte, whole bool) (jsonrpc.Message, *jsonrpc.Error) {
	if !whole {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message is longer than %d bytes and was left out: hand long text over as a file", longest)}
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return m, nil
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if !json.Valid(line) {
		code = jsonrpc.CodeParseError
	}
	return nil, &jsonrpc.Error{Code: code, Message: fmt.Sprintf("a line is no JSON-RPC message and was left out: %v", err)}
}

// complain answers a line of which nobody knows whose answer it waits for.
func (p *pipes) complain(e *jsonrpc.Error) error {
	data, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, e})
	if err != nil {
		return err
	}
	return p.send(data)
}

// Read gives the session its next message.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-p.lines:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-p.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message.
func (p *pipes) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = p.send(data)
	if _, ok := m.(*jsonrpc.Response); ok {
		p.answered()
	}
	return err
}

// answered counts an answer that went out.
func (p *pipes) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed--; p.owed == 0 && p.even != nil {
		close(p.even)
	}
}

func (p *pipes) send(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.out.Write(append(data, '\n'))
	return err
}

// Close ends the session, not the streams, which are the process's.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// SessionID is empty: there is one session.
func (p *pipes) SessionID() string { return "" }
