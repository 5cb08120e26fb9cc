#!/usr/bin/env bash
# Runs every stage and says how long each took. A stage that fails ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests see an empty HOME and no git configuration; Go's own caches and
# settings stay where they are.
for v in GOCACHE GOMODCACHE GOPATH GOPROXY GOSUMDB GOFLAGS; do
  export "$v=$(go env "$v")"
done
npm_config_cache=${npm_config_cache:-$(npm config get cache)}
npm_config_registry=${npm_config_registry:-$(npm config get registry)}
XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
export npm_config_cache npm_config_registry XDG_CACHE_HOME
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
export HOME=$empty GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

total=$SECONDS
stage() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  printf '== %s: %d s\n' "$name" $((SECONDS - begin))
}

demo() { KEEP=0 ./scripts/demo.sh; }

cross() {
  for os in darwin windows; do
    CGO_ENABLED=0 GOOS=$os go vet ./...
    CGO_ENABLED=0 GOOS=$os go build -o /dev/null ./cmd/orchestrate
    CGO_ENABLED=0 GOOS=$os go build -o /dev/null ./cmd/orchestrate-supervise
  done
}

stage build make --no-print-directory build
stage lint ./scripts/lint.sh
stage cross-compile cross
# The scripts start the program some thousand times, which the race detector makes
# slow: those that do much at once run with it, all of them without.
many_at_once='TestScripts/^(many|alone|two-runs|writers-.*|serialize|detached|leave|viewer|live-.*|follow|stream|interrupt.*|cancel.*|pause-.*|resume-.*|retry.*|wall-budget|budget|poison|quota|shared-.*|worktree-setup.*|leak-.*|integrate-(conflict|checks|moved|killed)|clean-(live|many|killed)|session-(two|kill|lease|bounds))$'

unit() { go list ./... | grep -v '/internal/cli$' | xargs go test -race -timeout 30m; }

stage unit unit
stage scripts go test -timeout 30m ./internal/cli
stage scripts-at-once go test -race -timeout 30m -run "$many_at_once" ./internal/cli
stage memory go test -count=1 -run '^TestFlood$' ./internal/supervise # its bound holds without the race detector
stage kill-campaign env SHORT=1 ./scripts/faults.sh
stage demo demo
stage pages ./scripts/browser.sh
stage end-to-end ./scripts/e2e.sh
printf '\n== all stages: %d s\n' $((SECONDS - total))
