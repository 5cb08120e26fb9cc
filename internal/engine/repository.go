package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// repositorySays is the text of the repository's file at the workspace root, nil
// where there is none. A run that goes on takes what it began with, not what the file
// says by now.
func (p *Plan) repositorySays(root string) ([]byte, error) {
	if p.source != nil {
		return p.house, nil
	}
	return readRepository(root)
}

func readRepository(root string) ([]byte, error) {
	folder, err := os.OpenRoot(root) // a link must not lead out of it
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // opened for reading
	info, err := folder.Stat(spec.RepositoryFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("it leads out of the repository or cannot be read; replace it by a regular file: %w", err)
	case !info.Mode().IsRegular(): // a pipe would be waited for
		return nil, errors.New("it is not a regular file; replace it by one")
	}
	f, err := folder.Open(spec.RepositoryFile)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.LimitReader(f, spec.MaxBytes+1))
}

// recordedHouse is what the repository said when the run began.
func recordedHouse(led *ledger.Run, info ledger.RunInfo) ([]byte, error) {
	if info.RepositoryDigest == "" {
		return nil, nil
	}
	data, err := led.ReadFile(ledger.DefaultsFile)
	if err != nil {
		return nil, err
	}
	if digest(data) != info.RepositoryDigest {
		return nil, fmt.Errorf("%s is not what the run began with, so its jobs cannot be read as they were: run the spec anew", led.Path(ledger.DefaultsFile))
	}
	return data, nil
}

// sayHouseChanged notes that the file says something else by now.
func (p *Plan) sayHouseChanged() {
	now, err := readRepository(p.Root)
	if err != nil || !bytes.Equal(now, p.house) {
		p.Notes = append(p.Notes, spec.RepositoryFile+" has changed since the run began; this run goes on with what it said then")
	}
}

// noteRepository says what the repository's file did and what of it does not count.
func (p *Plan) noteRepository() {
	repo := p.Spec.Repository
	if repo == nil {
		return
	}
	if len(repo.Sets) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("where the spec is silent, %s sets: %s", spec.RepositoryFile, strings.Join(repo.Sets, ", ")))
	}
	for _, d := range repo.Ignored {
		p.Notes = append(p.Notes, fmt.Sprintf("%s:%d: %s %s", spec.RepositoryFile, d.Pos.Line, d.Field, d.Message))
	}
}
