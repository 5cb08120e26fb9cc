package secrettest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const value = `s3cr3t "Value" 42`

func jsonOf(s string) string {
	b, err := json.Marshal(map[string]string{"text": "a\n" + s})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s)) }

func gzipOf(s string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return "junk" + out.String()
}

func TestFindsEveryForm(t *testing.T) {
	for via, text := range map[string]string{
		"":               "x" + value + "y",
		"json":           jsonOf(value),
		"base64":         "line\n" + base64Of(value),
		"gzip":           gzipOf(value),
		"json, json":     jsonOf(jsonOf(value)),
		"base64, json":   base64Of(jsonOf(value)),
		"json, base64":   strings.ReplaceAll(jsonOf(base64Of(value)), base64Of(value)[:9], base64Of(value)[:9]+`\n`),
		"base64, base64": base64Of(base64Of(value)),
		"base64, gzip":   base64Of(gzipOf(value)),
		"gzip, json":     gzipOf(jsonOf(value)),
		"gzip, base64":   gzipOf(base64Of(value)),
		"gzip, gzip":     gzipOf(gzipOf(value)),
	} {
		root := t.TempDir()
		file := filepath.Join(root, "sub", "file.txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		hits, err := Find(root, []string{"not there", value})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, h := range hits {
			found = found || h == Hit{file, value, via}
		}
		if !found {
			t.Errorf("%q is not found in %q: %v", via, text, hits)
		}
	}
}

func TestFindLooksAtNames(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "a-s3cr3t-b"), 0o700); err != nil {
		t.Fatal(err)
	}
	hits, err := Find(root, []string{"s3cr3t"})
	if err != nil || len(hits) != 1 || hits[0].Via != "name" {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestFindOfNothing(t *testing.T) {
	if _, err := Find(filepath.Join(t.TempDir(), "none"), []string{"x"}); err == nil {
		t.Error("a directory that is not there must be an error")
	}
}
