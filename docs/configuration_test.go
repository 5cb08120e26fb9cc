package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"orchestrate/internal/policy"
)

// TestConfigurationsInThePagesAreValid: what a page shows of the operator's file can be
// pasted as it stands.
func TestConfigurationsInThePagesAreValid(t *testing.T) {
	fence := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	seen := 0
	for _, page := range []string{"configuration.md", "adding-a-runtime.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(block[1], "version: 1\n") {
				continue // that of a repository
			}
			seen++
			if _, err := policy.ParseOperator(page, []byte(block[1]), nil, "/home/me"); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d configurations were found", seen)
	}
}
