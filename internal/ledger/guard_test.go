package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/secret"
	"orchestrate/internal/secret/secrettest"
)

func TestNothingIsWrittenWithASecret(t *testing.T) {
	const value = `Xq7-2"bVt9\LmPz4RwKd8H`
	r, err := Create(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.Guard(secret.New([]string{value}))
	var told []Record
	r.Follow(func(rec Record) { told = append(told, rec) })
	for _, err := range []error{
		r.Append(RunStarted(RunInfo{RunID: r.ID, SpecPath: "/a/" + value, Jobs: []string{"a"}}), Noted("a", "it is "+value)),
		r.WriteJSON("a/status.json", map[string]string{"evidence": value}),
		r.WriteFile("a/prompt.md", []byte("use "+value)),
		r.WriteFrom("a/page.html", func(w io.Writer) error { // in parts that divide it
			_, err := io.WriteString(w, "use "+value[:9])
			_, again := io.WriteString(w, value[9:]+" and go on")
			return errors.Join(err, again)
		}),
		r.WriteJSONParts("a/parts.json", func(hand func([]byte) error) error {
			part, err := json.Marshal(value)
			return errors.Join(err, hand([]byte(`{"password": `)), hand(part), hand([]byte(`,"next": "it is kept"}`)))
		}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	hits, err := secrettest.Find(r.Dir, []string{value})
	if err != nil || len(hits) > 0 {
		t.Errorf("found %+v, %v", hits, err)
	}
	for _, rec := range told {
		if strings.Contains(rec.Text.Unshown(), value) {
			t.Errorf("told: %+v", rec)
		}
	}
	state, err := Replay(r.Dir)
	if err != nil || !strings.Contains(state.SpecPath, "REDACTED") {
		t.Errorf("%+v, %v", state, err)
	}
	for _, name := range []string{"status.json", "prompt.md", "page.html", "parts.json"} {
		data, err := os.ReadFile(r.Path("a", name))
		if err != nil || !bytes.Contains(data, []byte("[REDACTED:exact]")) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(data) {
			t.Errorf("%s is no JSON: %s", name, data)
		}
	}
}

func TestOpenDirFollowsNoLink(t *testing.T) {
	r, err := Create(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := errors.Join(r.MkdirAll("a/artifacts"), r.MkdirAll("b/artifacts")); err != nil {
		t.Fatal(err)
	}
	root, err := r.OpenDir("a/artifacts")
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	for target, place := range map[string]string{t.TempDir(): "c/artifacts", r.Path("b", "artifacts"): "a/artifacts", "../b/artifacts": "d/artifacts"} {
		if err := errors.Join(r.MkdirAll(place), r.Remove(place), os.Symlink(target, r.Path(place))); err != nil {
			t.Fatal(err)
		}
		if _, err := r.OpenDir(place); !errors.Is(err, ErrNotFolder) {
			t.Errorf("%s -> %s: %v", place, target, err)
		}
	}
	if _, err := r.OpenDir("b/artifacts/no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
