#!/usr/bin/env bash
# A batch of the worker form over 500 items beside one over 50, in turns, by a shell
# command and by the fake of claude: the engine's memory, that every task has its result
# and begins in the list's order, and that --retry-failed does only what failed.
#
#   ROUNDS=3        pairs of each
#   ITEMS=500       the longer list; the other has a tenth
#   WORK=DIR        where it works; a fresh folder each, never removed
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-${TMPDIR:-/tmp}/orchestrate-worker-scale}
bin=$PWD/bench/bin
CGO_ENABLED=0 go build -buildvcs=false -o "$bin/" ./cmd/orchestrate ./cmd/orchestrate-supervise ./bench/cmd/bench
CGO_ENABLED=0 go build -buildvcs=false -o "$bin/fake/claude" ./internal/runtime/fakecli/cmd/fakecli
exec "$bin/bench" worker -bin "$bin" -work "$work" -rounds "${ROUNDS:-3}" -jobs "${ITEMS:-500}" "$@"
