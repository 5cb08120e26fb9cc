#!/usr/bin/env bash
# Runs the end-to-end tests: the built programs with the real coding agents, which
# package-lock.json pins and npm checks, against a simulated model service.
# LATEST=1 takes the agents' newest versions instead. Arguments go to go test.
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

if [ "${LATEST:-}" ]; then
  clis=$scratch/clis
  npm install --prefix "$clis" --no-audit --no-fund @anthropic-ai/claude-code@latest @openai/codex@latest
else
  clis=$cache/$(sha256sum e2e/package-lock.json | cut -c1-16)
  if [ ! -d "$clis" ]; then
    cp e2e/package.json e2e/package-lock.json "$scratch/clis"
    npm ci --prefix "$scratch/clis" --no-audit --no-fund
    # In one step, so that a folder of this name is complete.
    mv -T "$scratch/clis" "$clis" || [ -d "$clis" ]
  fi
fi

export ORCHESTRATE_E2E_CLIS=$clis/node_modules/.bin ORCHESTRATE_E2E_BIN=${ORCHESTRATE_E2E_BIN:-$PWD/bin} ORCHESTRATE_E2E_LABS=$scratch/labs
go test -tags e2e -count=1 -timeout 30m -parallel 2 "$@" ./e2e/...
