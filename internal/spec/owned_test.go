package spec

import (
	"strings"
	"testing"
)

func TestWhoOwnsTheWholeCwd(t *testing.T) {
	for owned, want := range map[string]bool{
		"": true, "**": true, "**/*": true, "*/**": true, "**/**": true, ".": true, "src **": true, "* */**": true, "{**,docs}": true,
		"*": false, "src/**": false, "**/*.go": false, "**/src": false, "*/*": false, "docs README.md": false, "[a-z]*/**": false,
	} {
		j := Job{OwnedPaths: strings.Fields(owned)}
		if got := j.OwnsCwd(); got != want {
			t.Errorf("%q: %v", owned, got)
		}
	}
}
