package capture

import "slices"

// A ring keeps the last bytes of a stream. Its memory grows with what it holds,
// up to its limit.
type ring struct {
	buf   []byte
	limit int
	at    int   // where the oldest byte is, once len(buf) == limit
	total int64 // bytes ever written
}

func (r *ring) write(p []byte) {
	r.total += int64(len(p))
	if len(p) >= r.limit {
		r.grow(r.limit)
		r.buf = append(r.buf[:0], p[len(p)-r.limit:]...)
		r.at = 0
		return
	}
	if room := r.limit - len(r.buf); room > 0 {
		k := min(room, len(p))
		r.grow(len(r.buf) + k)
		r.buf = append(r.buf, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(r.buf[r.at:], p)
		p = p[k:]
		if r.at += k; r.at == r.limit {
			r.at = 0
		}
	}
}

// grow doubles the memory as append does, but never beyond the limit.
func (r *ring) grow(need int) {
	if need <= cap(r.buf) {
		return
	}
	next := make([]byte, len(r.buf), min(r.limit, max(need, 2*cap(r.buf), 4096)))
	copy(next, r.buf)
	r.buf = next
}

// lost reports how many bytes have fallen out of the ring.
func (r *ring) lost() int64 { return r.total - int64(len(r.buf)) }

// linear turns the ring in place so that its bytes are in order, and returns them.
func (r *ring) linear() []byte {
	if r.at > 0 {
		slices.Reverse(r.buf[:r.at])
		slices.Reverse(r.buf[r.at:])
		slices.Reverse(r.buf)
		r.at = 0
	}
	return r.buf
}
