package gocache

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// talk has one conversation, closed at its end, and returns the answers but for those to
// the greeting and the close.
func talk(t *testing.T, seed, own string, requests ...string) []response {
	t.Helper()
	var out bytes.Buffer
	in := strings.NewReader(strings.Join(requests, "") + `{"ID":99,"Command":"close"}` + "\n\n")
	s := server{seed: folder(seed), own: folder(own), now: func() time.Time { return now }}
	if err := s.serve(in, &out); err != nil {
		t.Fatal(err)
	}
	var all []response
	for dec := json.NewDecoder(&out); dec.More(); {
		var r response
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) != len(requests)+2 || len(all[0].KnownCommands) != 3 || all[len(all)-1].ID != 99 {
		t.Fatalf("answers: %+v", all)
	}
	return all[1 : len(all)-1]
}

func id(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func get(action string) string {
	return fmt.Sprintf(`{"ID":1,"Command":"get","ActionID":%q}`+"\n\n", b64(id(action)))
}

func put(action, body string) string {
	head := fmt.Sprintf(`{"ID":2,"Command":"put","ActionID":%q,"OutputID":%q,"BodySize":%d}`+"\n\n", b64(id(action)), b64(id(body)), len(body))
	if body == "" {
		return head
	}
	return head + `"` + b64([]byte(body)) + "\"\n"
}

func hit(t *testing.T, r response, body string) {
	t.Helper()
	got, err := os.ReadFile(r.DiskPath)
	if err != nil || string(got) != body || r.Miss || r.Err != "" || r.Size != int64(len(body)) || !bytes.Equal(r.OutputID, id(body)) {
		t.Errorf("%+v, %q, %v; want %q", r, got, err, body)
	}
}

func TestWhatIsPutIsGot(t *testing.T) {
	own := t.TempDir()
	for _, body := range []string{"", "a", "ab", "abc", strings.Repeat("long and longer", 100_000)} {
		got := talk(t, t.TempDir(), own, get("x"+body), put("x"+body, body), get("x"+body), get("y"))
		if !got[0].Miss || !got[3].Miss {
			t.Errorf("found what was never put: %+v", got)
		}
		if got[1].DiskPath != got[2].DiskPath || !got[2].Time.Equal(now) {
			t.Errorf("%+v", got)
		}
		hit(t, got[2], body)
		hit(t, talk(t, t.TempDir(), own, get("x"+body))[0], body) // by the next go command
	}
}

func TestThePersonsIsReadInItsPlace(t *testing.T) {
	seed, own := t.TempDir(), t.TempDir()
	path := talk(t, t.TempDir(), seed, put("x", "body"))[0].DiskPath
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	got := talk(t, seed, own, get("x"))[0]
	hit(t, got, "body")
	if !strings.HasPrefix(got.DiskPath, seed) {
		t.Errorf("copied to %s", got.DiskPath)
	}
	// What the job builds anew comes before it.
	hit(t, talk(t, seed, own, put("x", "other"), get("x"))[1], "other")
	hit(t, talk(t, seed, t.TempDir(), get("x"))[0], "body")
}

// Go clears an output away that nobody used for five days, also while it is in use here.
func TestWhatThePersonMayLoseIsCopied(t *testing.T) {
	seed, own := t.TempDir(), t.TempDir()
	path := talk(t, t.TempDir(), seed, put("x", "body"))[0].DiskPath
	for age, copied := range map[time.Duration]bool{3 * 24 * time.Hour: false, 5 * 24 * time.Hour: true} {
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		got := talk(t, seed, own, get("x"))[0]
		hit(t, got, "body")
		if strings.HasPrefix(got.DiskPath, own) != copied {
			t.Errorf("after %v: %s", age, got.DiskPath)
		}
	}
}

func TestADamagedEntryIsNone(t *testing.T) {
	for name, harm := range map[string]func(f folder, action, output []byte) error{
		"no output":       func(f folder, _, o []byte) error { return os.Remove(f.name(o, "d")) },
		"short output":    func(f folder, _, o []byte) error { return os.Truncate(f.name(o, "d"), 1) },
		"output a folder": func(f folder, _, o []byte) error { p := f.name(o, "d"); _ = os.Remove(p); return os.Mkdir(p, 0o700) },
		"empty action":    func(f folder, a, _ []byte) error { return os.Truncate(f.name(a, "a"), 0) },
		"torn action":     func(f folder, a, _ []byte) error { return os.Truncate(f.name(a, "a"), 100) },
		"another's action": func(f folder, a, _ []byte) error {
			return os.WriteFile(f.name(a, "a"), line("v1", id("y"), "4"), 0o600)
		},
		"another version": func(f folder, a, _ []byte) error { return os.WriteFile(f.name(a, "a"), line("v2", a, "4"), 0o600) },
		"no size":         func(f folder, a, _ []byte) error { return os.WriteFile(f.name(a, "a"), line("v1", a, "four"), 0o600) },
		"a negative size": func(f folder, a, _ []byte) error { return os.WriteFile(f.name(a, "a"), line("v1", a, "-4"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			seed := t.TempDir()
			talk(t, t.TempDir(), seed, put("x", "body"))
			if err := harm(folder(seed), id("x"), id("body")); err != nil {
				t.Fatal(err)
			}
			if got := talk(t, seed, t.TempDir(), get("x"))[0]; !got.Miss {
				t.Errorf("%+v", got)
			}
		})
	}
}

func line(version string, action []byte, size string) []byte {
	return fmt.Appendf(nil, "%s %x %x %20s %20d\n", version, action, id("body"), size, now.UnixNano())
}

// A request that cannot be carried out is answered, and the next one is understood.
func TestTroubleIsAnsweredAndTheTalkGoesOn(t *testing.T) {
	full := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := talk(t, t.TempDir(), full, put("x", strings.Repeat("body", 100_000)), get("x"),
		`{"ID":3,"Command":"get","ActionID":"AAAA"}`+"\n", `{"ID":4,"Command":"dance","ActionID":"`+b64(id("x"))+`"}`+"\n")
	if got[0].Err == "" || !got[1].Miss || got[2].Err == "" || !strings.Contains(got[3].Err, "dance") {
		t.Errorf("%+v", got)
	}
}

func TestABrokenConnectionIsTold(t *testing.T) {
	for in, want := range map[string]string{
		"":          "",
		"\n\n":      "",
		"no JSON\n": "a request that cannot be read",
		"{\"ID\":1": "a request that cannot be read",
		put("x", "y")[:len(put("x", "y"))-7] + "":            "EOF",
		strings.Replace(put("x", "y"), "\n\n\"", "\n\n!", 1): "begins with '!'",
	} {
		s := server{seed: folder(t.TempDir()), own: folder(t.TempDir()), now: time.Now}
		err := s.serve(strings.NewReader(in), &bytes.Buffer{})
		if said := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(said, want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestItIsNotForPeople(t *testing.T) {
	var errOut bytes.Buffer
	if status := Main(nil, strings.NewReader(""), &bytes.Buffer{}, &errOut); status != 2 || !strings.Contains(errOut.String(), "go starts it") {
		t.Errorf("%d %s", status, errOut.String())
	}
}
