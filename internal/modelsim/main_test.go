package modelsim_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orchestrate/internal/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a server with a client of its own.
type lab struct {
	t *testing.T
	*modelsim.Server
	client *http.Client
}

func start(t *testing.T, scenario string, opt modelsim.Options) *lab {
	t.Helper()
	s, err := modelsim.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	server, err := modelsim.Start(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{t: t, Server: server, client: &http.Client{Transport: transport}}
}

// said is an answer as a client sees it.
type said struct {
	code   int
	header http.Header
	body   string
	err    error // the connection broke
}

func (l *lab) post(path, body string) said {
	l.t.Helper()
	resp, err := l.client.Post(l.URL("")+path, "application/json", strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return said{resp.StatusCode, resp.Header, string(data), err}
}

// events are the data lines of a stream.
func (s said) events(t *testing.T) (out []map[string]any) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(s.body))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		out = append(out, event)
	}
	return out
}

// at walks keys and indexes down a decoded document; nil when there is nothing.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}
