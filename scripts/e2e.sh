#!/usr/bin/env bash
# Runs the end-to-end tests: the built programs with the real coding agents, which
# package-lock.json pins and npm checks, against a simulated model service.
# LATEST=1 takes the agents' newest versions instead. TABLE=1 shows at the end what
# the agents were seen to do. TRANSCRIPTS=1 keeps what sessions that hosted a run printed,
# in e2e/testdata/transcripts. Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" != Linux ]; then
  echo "e2e: these tests need Linux: a network namespace keeps the agents away from the internet" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi
[ -n "${ORCHESTRATE_E2E_BIN:-}" ] || make -s build # or else a special build of the programs

cache=${XDG_CACHE_HOME:-$HOME/.cache}/orchestrate-e2e
mkdir -p "$cache"
# Labs and installs under way; neither may be below the temporary folder, where
# codex's sandbox does not work.
scratch=$(mktemp -d "$cache/scratch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/labs" "$scratch/clis"

# Some of the agents want a newer Node.js than the one that npm may run on: it is
# installed beside them, and npm's warning about it is no news.
npm_bounded() { timeout --foreground 30m npm "$@" --prefix "$scratch/clis" --no-audit --no-fund --loglevel=error; }
if [ "${LATEST:-}" ]; then
  clis=$scratch/clis
  node -e '
    const wanted = require("./e2e/package.json");
    for (const name in wanted.dependencies) wanted.dependencies[name] = "latest";
    console.log(JSON.stringify(wanted));
  ' >"$clis/package.json"
  npm_bounded install
else
  clis=$cache/$(sha256sum e2e/package-lock.json | cut -c1-16)
  if [ ! -d "$clis" ]; then
    echo "e2e: installing the agents: about 1 GB to fetch, 2.8 GB on the disk"
    cp e2e/package.json e2e/package-lock.json "$scratch/clis"
    begin=$SECONDS
    npm_bounded ci
    echo "e2e: installed in $((SECONDS - begin)) s"
    # In one step, so that a folder of this name is complete.
    mv -T "$scratch/clis" "$clis" || [ -d "$clis" ]
  fi
fi

export ORCHESTRATE_E2E_CLIS=$clis/node_modules/.bin ORCHESTRATE_E2E_BIN=${ORCHESTRATE_E2E_BIN:-$PWD/bin} ORCHESTRATE_E2E_LABS=$scratch/labs
[ -z "${TABLE:-}" ] || export ORCHESTRATE_E2E_TABLE=$scratch/table.md
status=0
go test -tags e2e -count=1 -timeout 40m -parallel 2 "$@" ./e2e/... || status=$?
[ ! -f "$scratch/table.md" ] || cat "$scratch/table.md"
exit "$status"
