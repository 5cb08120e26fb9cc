#!/usr/bin/env bash
# Formats are checked and the linters run; both come from the Go proxy at the
# versions below, kept in a cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
gofumpt=v0.12.0 golangci=v2.15.0
tools=${XDG_CACHE_HOME:-$HOME/.cache}/orchestrate-tools/$gofumpt-$golangci
mkdir -p "$tools"
[ -x "$tools/gofumpt" ] || GOBIN=$tools go install "mvdan.cc/gofumpt@$gofumpt"
[ -x "$tools/golangci-lint" ] || GOBIN=$tools go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$golangci"

unformatted=$(git ls-files -z '*.go' | xargs -0 "$tools/gofumpt" -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted (run gofumpt -w on them):\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
GOLANGCI_LINT_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/golangci-lint "$tools/golangci-lint" run
