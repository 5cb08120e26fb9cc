#!/usr/bin/env bash
# Runs the end-to-end tests: the built programs with the real coding agents, which
# package-lock.json pins and npm checks, against a simulated model service.
# LATEST=1 takes the agents' newest versions instead. Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
make -s build

cache=${XDG_CACHE_HOME:-$HOME/.cache}/orchestrate-e2e
if [ "${LATEST:-}" ]; then
  clis=$cache/latest
  rm -rf "$clis"
else
  clis=$cache/$(sha256sum e2e/package-lock.json | cut -c1-16)
fi

# A folder is complete once its mark is there: an install that was cut off is done
# again.
if [ ! -e "$clis/complete" ]; then
  rm -rf "$clis"
  mkdir -p "$clis"
  cp e2e/package.json e2e/package-lock.json "$clis"
  if [ "${LATEST:-}" ]; then
    rm "$clis/package-lock.json"
    npm install --prefix "$clis" --no-audit --no-fund @anthropic-ai/claude-code@latest @openai/codex@latest
  else
    npm ci --prefix "$clis" --no-audit --no-fund
  fi
  touch "$clis/complete"
fi

mkdir -p "$cache/labs"
export ORCHESTRATE_E2E_CLIS=$clis/node_modules/.bin ORCHESTRATE_E2E_BIN=$PWD/bin ORCHESTRATE_E2E_LABS=$cache/labs
go test -tags e2e -count=1 -timeout 30m -parallel 2 "$@" ./e2e/...
