#!/bin/sh
# Makes each odd repository, plans and runs a job in it, and prints what became of it as a
# table; see docs/repositories.md.
set -eu
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if ! go test ./internal/cli -run '^TestOddRepositories$' -count=1 -v >"$said" 2>&1; then
	cat "$said"
	exit 1
fi
sed -n 's/^ *| /| /p' "$said"
