package detect

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWhatIsPackedIsRead, as far as it is whole.
func TestWhatIsPackedIsRead(t *testing.T) {
	long := strings.Repeat("0123456789", 500)
	for name, c := range map[string]struct {
		data []byte
		want string
		err  error
	}{
		"gzip":         {gzipped(t, "in gzip"), "in gzip", nil},
		"zip":          {zipped(t, "a name", "in zip"), "in zip", nil},
		"name":         {zipped(t, "a name", ""), "a name", nil},
		"cut off":      {gzipped(t, long)[:30], "", nil},
		"too much":     {gzipped(t, long), long[:1000], ErrTooMuch},
		"no gzip":      {[]byte("\x1f\x8b no"), "", nil},
		"no zip":       {[]byte("PK\x03\x04 no"), "", nil},
		"anything":     {[]byte("anything"), "", nil},
		"nothing":      {nil, "", nil},
		"only a start": {[]byte("PK"), "", nil},
	} {
		var got bytes.Buffer
		err := Unpack(bytes.NewReader(c.data), int64(len(c.data)), 1000, func(r io.Reader) error {
			_, err := io.Copy(&got, r)
			return err
		})
		if !errors.Is(err, c.err) || !strings.Contains(got.String(), c.want) || got.Len() > 1100 {
			t.Errorf("%s: %v, %d bytes %.60q", name, err, got.Len(), got.String())
		}
	}
}
