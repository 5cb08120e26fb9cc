package workspace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Digests are the SHA-256 (hex) of files as they are in a commit, by name (slashes,
// relative to the top). A symbolic link counts as the file that it leads to inside the
// commit. What is no file there is not in the map.
func (r *Repo) Digests(ctx context.Context, commit string, names []string) (map[string]string, error) {
	var ask bytes.Buffer
	var asked []string
	for _, name := range names {
		if within(name) && !strings.ContainsAny(name, "\n\x00") {
			fmt.Fprintf(&ask, "%s:%s\n", commit, path.Clean(name))
			asked = append(asked, name)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	out, err := r.git.do(ctx, call{args: []string{"cat-file", "--batch-check", "--follow-symlinks"}, stdin: &ask})
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	said := bufio.NewReader(bytes.NewReader(out))
	for _, name := range asked {
		blob, err := nextBlob(said)
		if err != nil {
			return nil, fmt.Errorf("what git says of %s in %s is not understood: %w", name, commit, err)
		}
		if blob == "" {
			continue
		}
		if all[name], err = r.digest(ctx, blob); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// nextBlob is the id of the file that the next answer of git is about, "" when that is
// about none.
func nextBlob(said *bufio.Reader) (string, error) {
	line, err := said.ReadString('\n')
	if err != nil {
		return "", err
	}
	words := strings.Fields(line)
	switch {
	case strings.HasSuffix(line, " missing\n"): // after the name, whatever is in that
		return "", nil
	case len(words) == 3 && words[1] == "blob":
		return words[0], nil
	case len(words) == 2 && (words[0] == "symlink" || words[0] == "dangling" || words[0] == "loop" || words[0] == "notdir"):
		n, err := strconv.Atoi(words[1]) // a path of that length follows
		if err == nil {
			_, err = said.Discard(n + 1)
		}
		return "", err
	case len(words) < 2:
		return "", errors.New(strconv.Quote(line))
	}
	return "", nil // a folder
}

func (r *Repo) digest(ctx context.Context, blob string) (string, error) {
	h := sha256.New()
	_, err := r.git.do(ctx, call{args: []string{"cat-file", "blob", blob}, out: h})
	return hex.EncodeToString(h.Sum(nil)), err
}
