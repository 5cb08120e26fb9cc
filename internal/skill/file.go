package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// readRegular reads a file that is one, and not a link to one.
func readRegular(root *os.Root, name string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return root.ReadFile(name)
}

// draft is the name under which a file is written before it takes its place. It is the
// same each time, so that one which a cut-off installation left is found.
func draft(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+".new") }

// replace writes a file so that at any moment the old one or the new one is there, whole.
// What stood in its place, if it was a link, is replaced and not followed.
func replace(root *os.Root, name string, data []byte) error {
	next := draft(name)
	if err := drop(root, next); err != nil {
		return err
	}
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(next, name)
	}
	if err != nil {
		return errors.Join(err, drop(root, next))
	}
	return nil
}

// drop removes what may not be there.
func drop(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeFolders makes a folder and those above it, and says how many it made.
func makeFolders(root *os.Root, folder string) (made int, err error) {
	if folder == "." {
		return 0, nil
	}
	if _, err := root.Stat(folder); err == nil {
		return 0, nil
	}
	if made, err = makeFolders(root, path.Dir(folder)); err != nil {
		return made, err
	}
	if err := root.Mkdir(folder, 0o755); err != nil {
		return made, err
	}
	return made + 1, nil
}

// removeEmpty removes a folder if nothing is in it, and says whether it is gone.
func removeEmpty(root *os.Root, folder string) (gone bool, err error) {
	entries, err := fs.ReadDir(root.FS(), folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case len(entries) > 0:
		return false, nil
	}
	return true, drop(root, folder)
}
