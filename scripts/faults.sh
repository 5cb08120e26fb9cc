#!/usr/bin/env bash
# The kill campaign (faults/): runs are killed at every failpoint and at other
# moments, resumed, and looked at.
#
#   make faults             at least 1,000 kills, every failpoint at least 20 times, then
#                           40 runs with the real claude and codex, simulated model
#   SHORT=1 make faults     100 kills, every failpoint once, no real agents; then that the
#                           campaign fails on a build whose locks always succeed
#   NOLOCKS=1 make faults   on such a build: it has to fail
#   SEED=n                  what the plan of the rounds starts from
#
# Arguments go to the campaign. The folders of rounds that fail are kept.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" != Linux ]; then
  echo "faults: the campaign finds processes through /proc, so it needs Linux" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

build() {
  CGO_ENABLED=0 go build -buildvcs=false -tags "$1" -o "$bin/$1/" ./cmd/orchestrate ./cmd/orchestrate-supervise ./faults
}
campaign() {
  local tags=$1
  shift
  build "$tags"
  "$bin/$tags/faults" -bin "$bin/$tags" -seed "${SEED:-1}" "$@"
}
# What comes after a run, an integration and a clean, is killed at each of its failpoints, and
# so is a run whose jobs a session carries out.
afterwards() {
  go test -tags faults ./internal/cli -run '^TestScripts$/^(integrate|session)-moments$'
  go test -tags faults ./internal/engine -run '^TestACleanThatIsKilled$'
}
# Status 3: rounds are broken. Anything else is no proof that the campaign sees it.
fails_without_locks() {
  local status=0
  campaign faults,nolocks -work "$bin" -kills 60 -each 0 -broken 1 || status=$? # what it keeps is nothing to look at
  if [ "$status" != 3 ]; then
    echo "faults: without locks the campaign ended with status $status, not 3" >&2
    return 1
  fi
  echo "faults: without locks the campaign fails, as it must"
}

if [ -n "${NOLOCKS:-}" ]; then
  campaign faults,nolocks -kills 60 -each 0 -broken 1 "$@"
elif [ -n "${SHORT:-}" ]; then
  campaign faults -kills 100 -each 1 "$@"
  afterwards
  fails_without_locks >"$bin/log" || { cat "$bin/log"; exit 1; }
  tail -n 2 "$bin/log"
else
  campaign faults -kills 1000 -each 20 "$@"
  afterwards
  ORCHESTRATE_E2E_BIN=$bin/faults ./scripts/e2e.sh -tags e2e,faults -run '^TestKilled'
fi
