// Command modelsim serves a scenario for tests. It prints its URL as one line of
// JSON and ends when its standard input does, or at SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"orchestrate/internal/modelsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "modelsim:", err)
		os.Exit(1)
	}
}

// nonces collects -nonce NAME=VALUE.
type nonces map[string]string

func (n nonces) String() string { return "" }

func (n nonces) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" || value == "" {
		return fmt.Errorf("%q is not NAME=VALUE", s)
	}
	n[name] = value
	return nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet("modelsim", flag.ContinueOnError)
	path := flags.String("scenario", "", "scenario file, YAML or JSON")
	addr := flags.String("addr", "127.0.0.1:0", "loopback address to listen on")
	log := flags.String("log", "", "file that gets every request as a line of JSON")
	known := nonces{}
	flags.Var(known, "nonce", "NAME=VALUE, may be given several times")
	if err := flags.Parse(args); err != nil {
		return err
	}
	scenario, err := modelsim.Load(*path)
	if err != nil {
		return err
	}
	opt := modelsim.Options{Addr: *addr, Nonces: known}
	if *log != "" {
		f, err := os.Create(*log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		opt.Log = f
	}
	server, err := modelsim.Start(scenario, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := json.NewEncoder(out).Encode(map[string]string{"url": server.URL("")}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, in)
		ended <- err
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}
