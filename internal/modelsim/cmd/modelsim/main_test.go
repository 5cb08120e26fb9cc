package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServesUntilStandardInputEnds(t *testing.T) {
	dir := t.TempDir()
	scenario, log := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "log")
	if err := os.WriteFile(scenario, []byte(`rules: [{require: [N], do: [{text: "yes"}], otherwise: [{text: "no"}]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	in, hold := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(context.Background(), []string{"-scenario", scenario, "-log", log, "-nonce", "N=n-1"}, in, out)
	}()
	line, err := bufio.NewReader(read).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ URL string }
	if err := json.Unmarshal(line, &said); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(said.URL+"/v1/messages", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"n-1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `"yes"`) {
		t.Errorf("%s, %v", body, err)
	}
	hold.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), `"nonces":["N"]`) {
		t.Errorf("log %q, %v", data, err)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for _, args := range [][]string{{"-scenario", "absent.yaml"}, {"-nonce", "N"}, {"-other"}} {
		if err := run(context.Background(), args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
