package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/secret"
	"orchestrate/internal/untrusted"
)

// TestAKeyOverManyEventsIsHidden whole: each line of what a program prints may be an
// event of its own. No event is lost, and their order is kept.
func TestAKeyOverManyEventsIsHidden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	log, err := newEventLog(file, secret.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("MIIEowIBAAKCAQEAx3qRk7Yh0aPzPqKk2Z9mG8e1xPqKk2Z9", 1)
	lines := []string{"found:", "-----BEGIN RSA PRIVATE" + " KEY-----", body, body, "-----END RSA PRIVATE" + " KEY-----", "that was it", "cut gl" + "pat-xYz12345AbCd…"}
	for _, line := range lines {
		log.add(runtime.Event{Kind: runtime.EventWarning, Text: untrusted.From(line)}, time.Unix(0, 0))
	}
	log.add(runtime.Event{Kind: runtime.EventExited, Text: untrusted.From("exit status 0")}, time.Unix(0, 0))
	if err := log.close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if strings.Contains(text, body[:16]) || strings.Contains(text, "xYz12345") {
		t.Errorf("shown:\n%s", text)
	}
	if n := strings.Count(text, "\n"); n != len(lines)+1 || !strings.Contains(text, "that was it") || !strings.HasSuffix(text, "exit status 0\"}\n") {
		t.Errorf("%d events:\n%s", n, text)
	}
}
