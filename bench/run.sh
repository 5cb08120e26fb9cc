#!/usr/bin/env bash
# All benchmarks, beside their peers in one run; tables to bench/results/.
#
#   BENCH_ROUNDS=5         rounds of each suite
#   BENCH_WORK=DIR[,DIR]   where the commands work; a fresh folder each, never removed
#   BENCH_BEFORE=DIR       programs of another build, for what a run of one job costs
#   BENCH_SLOW=1           go-task on the wide graph too: a minute, 5 GB
set -euo pipefail
cd "$(dirname "$0")/.."

task_version=v3.45.5
rounds=${BENCH_ROUNDS:-5}
tmp=${TMPDIR:-/tmp}
work=${BENCH_WORK:-/dev/shm/orchestrate-bench,$tmp/orchestrate-bench}
first=${work%%,*}
slow=()
if [ -n "${BENCH_SLOW:-}" ]; then slow=(-slow); fi
before=${BENCH_BEFORE:-}

if ! command -v parallel >/dev/null; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get install -y parallel >/dev/null
	else
		echo "bench: GNU parallel is not installed, so it is left out: apt-get install parallel" >&2
	fi
fi
bin=$PWD/bench/bin
CGO_ENABLED=0 go build -o "$bin/" ./cmd/orchestrate ./cmd/orchestrate-supervise ./bench/cmd/...
if [ ! -x "$bin/task" ]; then
	GOBIN=$bin go install "github.com/go-task/task/v3/cmd/task@$task_version" ||
		echo "bench: go-task $task_version could not be installed, so it is left out" >&2
fi
mkdir -p bench/results

suite() {
	local name=$1
	shift
	"$bin/bench" "$name" -bin "$bin" -rounds "$rounds" -out "bench/results/$name.md" "$@"
}
suite jobs -work "$work" "${slow[@]}"
suite scale -work "$first"
suite one -work "$first" -rounds 20 -before "$before"
suite start -work "$first"
suite flood -work "$work"
suite worktrees -work "$work"

# What is measured inside one package is a Go benchmark there.
{
	echo "# rooms"
	echo
	echo "Go benchmarks of single rooms: redaction, bounded capture and the supervisor beside their floors, the journal, reading a spec, the report."
	echo
	echo '```'
	go test -run xxx -bench . -benchmem ./internal/secret ./internal/capture ./internal/supervise ./internal/ledger ./internal/spec ./internal/report
	echo '```'
} | tee bench/results/rooms.md
