package detect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

func mustNew(t *testing.T, exact, allow []string) *Detector {
	t.Helper()
	d, err := New(exact, allow)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFindTellsPlaceAndNotValue(t *testing.T) {
	d := mustNew(t, []string{"s3cr3t-Value-42", "test"}, nil)
	found := d.Find("first line, a test\nuse " + token + " here\n\n  s3cr3t-Value-42\n")
	want := []struct {
		rule      string
		line, col int
	}{{"github-pat", 2, 5}, {"exact", 4, 3}}
	if len(found) != len(want) {
		t.Fatalf("found %+v", found)
	}
	for k, w := range want {
		f := found[k]
		if f.Rule != w.rule || f.Line != w.line || f.Col != w.col || !strings.HasPrefix(f.Fingerprint, w.rule+":") || len(f.Fingerprint) != len(w.rule)+17 {
			t.Errorf("got %+v, want %+v", f, w)
		}
	}
	if text := fmt.Sprintf("%+v %#v", found, found); strings.Contains(text, "16C7e42F") || strings.Contains(text, "s3cr3t") {
		t.Errorf("a finding shows the secret: %s", text)
	}
}

func TestFindInFirstLine(t *testing.T) {
	found := mustNew(t, nil, nil).Find(token)
	if len(found) != 1 || found[0].Line != 1 || found[0].Col != 1 {
		t.Errorf("found %+v", found)
	}
}

func TestFindInBase64(t *testing.T) {
	found := mustNew(t, nil, nil).Find("data: " + base64.StdEncoding.EncodeToString([]byte("login with "+token+" please")))
	if len(found) != 1 || found[0].Rule != "github-pat" {
		t.Errorf("found %+v", found)
	}
}

func TestOrdinaryTextHasNoFinding(t *testing.T) {
	text := "Review internal/secret and run `go test ./...`; the token bucket holds 42 tokens.\nexport API_KEY=${API_KEY}\n"
	if found := mustNew(t, nil, nil).Find(text); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

func TestOnlyTheOperatorAllows(t *testing.T) {
	text := token + " # gitleaks:allow"
	found := mustNew(t, nil, nil).Find(text)
	if len(found) != 1 {
		t.Fatalf("a comment in the text hides a secret: %+v", found)
	}
	if left := mustNew(t, nil, []string{found[0].Fingerprint}).Find(text); len(left) != 0 {
		t.Errorf("the allowed value is found: %+v", left)
	}
	other := strings.Replace(text, "16C7", "27D8", 1)
	if left := mustNew(t, nil, []string{found[0].Fingerprint}).Find(other); len(left) != 1 {
		t.Errorf("another value was allowed too: %+v", left)
	}
}

func TestDeadlineIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustNew(t, nil, nil).FindContext(ctx, token); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	d := mustNew(t, []string{"s3cr3t-Value-42"}, nil)
	done := make(chan int)
	for range 4 {
		go func() { done <- len(d.Find("a " + token + "\ns3cr3t-Value-42")) }()
	}
	for range 4 {
		if n := <-done; n != 2 {
			t.Errorf("%d findings", n)
		}
	}
}

// TestARestedDetectorFindsTheSame also from several goroutines at once.
func TestARestedDetectorFindsTheSame(t *testing.T) {
	d := mustNew(t, nil, nil)
	text := "key: " + token
	want := d.Find(text)
	if len(want) == 0 {
		t.Fatal("nothing is found at all")
	}
	d.Rest()
	if d.rules != nil {
		t.Error("a rest gives nothing back")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := d.Find(text); len(got) != len(want) || got[0] != want[0] {
				t.Errorf("after a rest: %v, before: %v", got, want)
			}
		})
	}
	all.Wait()
}
