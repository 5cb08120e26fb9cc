package inventory

import "orchestrate/internal/runtime"

// Knower is a Host that may know a runtime already.
type Knower interface {
	Known(name string) (runtime.Profile, bool)
}

// Known is what this command learned of a runtime before this process began. It is
// given once, so that whoever asks again asks the program; and a program that is
// another file by now has to answer for itself.
func (h *LiveHost) Known(name string) (runtime.Profile, bool) {
	h.mu.Lock()
	p, ok := h.known[name]
	delete(h.known, name)
	h.mu.Unlock()
	if !ok || p.Executable == nil {
		return runtime.Profile{}, false
	}
	now, err := h.Hash(p.Executable.Path)
	return p, err == nil && now == *p.Executable
}
