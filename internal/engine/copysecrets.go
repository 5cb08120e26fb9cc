package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"
	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/ledger"
)

// inCopiesOf are the secrets in the files that the jobs of a run had copied into their
// worktrees: as these were there before anything was removed, and as they are in the
// checkout.
func (c *cleaner) inCopiesOf(r *runLeft) (values []string, err error) {
	values, ok := c.copied[r]
	if ok {
		return values, nil
	}
	if values, err = c.readCopies(r); err != nil {
		return nil, err
	}
	if c.copied == nil {
		c.copied = map[*runLeft][]string{}
	}
	c.copied[r] = values
	return values, nil
}

func (c *cleaner) readCopies(r *runLeft) (values []string, err error) {
	data, err := r.led.ReadFile(ledger.JobsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	jobs, err := copiersOf(r.led, data)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		folders := []string{j.Cwd}
		for _, t := range r.trees {
			if t.job == j.ID && t.dir != "" {
				folders = append(folders, filepath.Join(t.dir, filepath.FromSlash(relTo(c.repo.Top(), j.Cwd))))
			}
		}
		for _, dir := range folders {
			found, err := secretsIn(dir, j.Worktree.Copy)
			if err != nil {
				return nil, err
			}
			values = append(values, found...)
		}
	}
	return values, nil
}

// copier is what jobs.yaml says of the files that a job had copied.
type copier struct {
	ID       string `yaml:"id"`
	Cwd      string `yaml:"cwd"`
	Worktree struct {
		Copy []string `yaml:"copy"`
	} `yaml:"worktree"`
}

// copiersOf are those of all jobs. data is the text of jobs.yaml.
func copiersOf(led *ledger.Run, data []byte) ([]copier, error) {
	var written struct {
		Jobs []copier `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", led.Path(ledger.JobsFile), err)
	}
	return written.Jobs, nil
}

// secretsIn are those of the regular files in a folder that patterns name. A folder that
// is not there has none.
func secretsIn(dir string, patterns []string) (values []string, err error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // opened for reading
	for _, pattern := range patterns {
		names, err := doublestar.Glob(root.FS(), pattern, doublestar.WithNoFollow())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, name := range names {
			var t toCopy
			if info, err := root.Lstat(filepath.FromSlash(name)); err != nil || !info.Mode().IsRegular() || info.Size() > maxCopied {
				continue // it was not copied as it is
			}
			if _, wrong := t.take(dir, name); wrong != "" {
				return nil, fmt.Errorf("what is secret in %s cannot be known: %s", dir, wrong)
			}
			values = append(values, t.values...)
		}
	}
	return values, nil
}
