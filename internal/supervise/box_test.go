//go:build linux

package supervise

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/sandbox"
)

// A child that neither becomes the program nor says why is not waited for for ever.
func TestAChildThatNeverConfinesItself(t *testing.T) {
	t.Parallel()
	b, err := openBox(sandbox.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if _, err := b.read(time.Now()); err == nil || !strings.Contains(err.Error(), "was not held within") {
		t.Errorf("%v", err)
	}
}
