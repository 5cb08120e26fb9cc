package policy

import (
	"strings"

	"orchestrate/internal/runtime"
)

// PinHolds reports whether the model that answered is the one that was pinned. A
// runtime that does not say who answered proves nothing against the pin. Names
// differ legitimately when the live list says that one stands for the other, and
// by a marker in brackets such as `[1m]`, which chooses a context length.
func PinHolds(pin, observed string, live []runtime.Model) bool {
	if pin == "" || observed == "" {
		return true
	}
	wanted := namesOf(pin, live)
	for name := range namesOf(observed, live) {
		if wanted[name] {
			return true
		}
	}
	return false
}

// namesOf is a model's name with what the live list says it resolves to.
func namesOf(name string, live []runtime.Model) map[string]bool {
	bare := withoutMarker(name)
	names := map[string]bool{bare: true}
	for _, m := range live {
		if withoutMarker(m.ID) == bare && m.Resolved != "" {
			names[withoutMarker(m.Resolved)] = true
		}
	}
	return names
}

func withoutMarker(name string) string {
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		return name[:i]
	}
	return name
}
