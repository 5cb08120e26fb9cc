package supervise

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// protocol changes whenever an engine and a supervisor of different builds could
// misread each other although they carry the same version string ("dev").
const protocol = 2

// ControlFD is the descriptor at which a supervisor finds its end of the socket.
const ControlFD = 3

// maxFrame bounds one frame: a prompt of 32 MiB in base64 fits.
const maxFrame = 64 << 20

// The frames. hello, started and settled come from the supervisor.
const (
	kindHello   = "hello"
	kindRun     = "run"
	kindCancel  = "cancel" // polite signal, grace, kill
	kindKill    = "kill"   // no grace
	kindStarted = "started"
	kindSettled = "settled"
)

// message is one frame: four bytes of length, big endian, then this as JSON.
// Turn counts the jobs of a slot, so that a cancel that arrives late never stops
// the next one.
type message struct {
	Kind     string          `json:"kind"`
	Turn     int64           `json:"turn,omitempty"`
	Protocol int             `json:"protocol,omitempty"`
	Version  string          `json:"version,omitempty"`
	PID      int             `json:"pid,omitempty"`
	Process  *Process        `json:"process,omitempty"`
	Run      *Invocation     `json:"run,omitempty"`
	Locks    int             `json:"locks,omitempty"` // descriptors that travel beside the run frame
	Exit     json.RawMessage `json:"exit,omitempty"`
	Problem  string          `json:"problem,omitempty"` // evidence that could not be kept
}

// encodeFrame builds the frame of m.
func encodeFrame(m message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(body) > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes to the supervisor is over the limit of %d; is the prompt that large?", len(body), maxFrame)
	}
	frame := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(frame, uint32(len(body)))
	return append(frame, body...), nil
}

// frames collects bytes until whole frames are there.
type frames struct{ buf []byte }

func (f *frames) add(p []byte) { f.buf = append(f.buf, p...) }

// next takes the first whole frame; ok is false while it is incomplete.
func (f *frames) next() (m message, ok bool, err error) {
	if len(f.buf) < 4 {
		return m, false, nil
	}
	size := int(binary.BigEndian.Uint32(f.buf))
	if size > maxFrame {
		return m, false, fmt.Errorf("a frame of %d bytes: the other side does not speak this protocol", size)
	}
	if len(f.buf) < 4+size {
		return m, false, nil
	}
	err = json.Unmarshal(f.buf[4:4+size], &m)
	f.buf = append(f.buf[:0], f.buf[4+size:]...)
	if cap(f.buf) > 1<<20 && len(f.buf) == 0 {
		f.buf = nil // a large prompt is not kept in memory behind its job
	}
	return m, err == nil, err
}
