package detect

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrTooMuch says that something packed unpacks to more than was to be searched.
var ErrTooMuch = errors.New("it unpacks to more than is searched")

// Unpack gives each what a gzip file holds, or the members of a zip, as far as it
// is whole; their names too, one a line. Of anything else it gives nothing. All
// together is at most most bytes, and ErrTooMuch tells that there is more.
func Unpack(src io.ReaderAt, size, most int64, each func(io.Reader) error) error {
	var head [4]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	left := &limit{most}
	switch {
	case bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(io.NewSectionReader(src, 0, size))
		if err != nil {
			return nil //nolint:nilerr // not gzip after all
		}
		return each(left.of(r))
	case bytes.HasPrefix(head[:n], []byte("PK\x03\x04")):
		return members(src, size, left, each)
	}
	return nil
}

func members(src io.ReaderAt, size int64, left *limit, each func(io.Reader) error) error {
	z, err := zip.NewReader(src, size)
	if err != nil {
		return nil //nolint:nilerr // not a zip after all, or cut off
	}
	var names bytes.Buffer
	for _, f := range z.File {
		fmt.Fprintln(&names, f.Name, f.Comment)
		r, err := f.Open()
		if err != nil {
			continue // encrypted, or packed in a way that is not known here
		}
		if err := errors.Join(each(left.of(r)), r.Close()); err != nil {
			return err
		}
	}
	fmt.Fprintln(&names, z.Comment)
	return each(&names)
}

// limit is how many bytes may still be unpacked.
type limit struct{ left int64 }

// of reads r up to the limit. What is damaged ends where it is: nobody else will
// read on either.
func (l *limit) of(r io.Reader) io.Reader { return &limited{l, r} }

type limited struct {
	*limit
	r io.Reader
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, ErrTooMuch
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
