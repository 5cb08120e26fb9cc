//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// floorMain starts a program n times, j at a time: the least that any runner of
// jobs written in Go must pay. With -dir each job leaves a folder with stdout,
// stderr and a status file put in place by rename.
func floorMain(args []string) error {
	fs := flag.NewFlagSet("floor", flag.ContinueOnError)
	n := fs.Int("n", 1000, "how many")
	j := fs.Int("j", 1, "how many at a time")
	dir := fs.String("dir", "", "folder for each job's files; without it nothing is kept")
	if err := fs.Parse(args); err != nil {
		return err
	}
	next := make(chan int)
	errs := make([]error, *j)
	var all sync.WaitGroup
	for w := range *j {
		all.Go(func() {
			for i := range next {
				errs[w] = errors.Join(errs[w], floorJob(fs.Args(), *dir, i))
			}
		})
	}
	for i := range *n {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

func floorJob(argv []string, dir string, i int) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	if dir == "" {
		return cmd.Run()
	}
	dir = filepath.Join(dir, fmt.Sprint("j", i))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return err
	}
	defer out.Close()
	warn, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return err
	}
	defer warn.Close()
	cmd.Stdout, cmd.Stderr = out, warn
	if err := cmd.Run(); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".status")
	if err := os.WriteFile(temp, fmt.Appendf(nil, "{\"exit\":%d}\n", cmd.ProcessState.ExitCode()), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, "status"))
}
