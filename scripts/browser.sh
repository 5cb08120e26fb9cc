#!/usr/bin/env bash
# Opens the report.html of real runs in headless Chromium and holds it to what a reader
# needs: see browser/check.mjs. What Chromium is driven with is pinned by
# browser/package-lock.json. SHOTS=1 also takes the pictures in docs/pictures.
set -euo pipefail
cd "$(dirname "$0")/.."

browser() { command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome; }
if ! browser >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
  else
    echo "pages: no Chromium here: install it, or name it: CHROMIUM=/path/to/chromium $0" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
  fi
fi
CHROMIUM=$(browser)
make -s build

cache=${XDG_CACHE_HOME:-$HOME/.cache}/orchestrate-browser
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/scratch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

modules=$cache/$(sha256sum browser/package-lock.json | cut -c1-16)
if [ ! -d "$modules" ]; then
  mkdir "$scratch/modules"
  cp browser/package.json browser/package-lock.json "$scratch/modules"
  timeout --foreground 10m npm ci --prefix "$scratch/modules" --ignore-scripts --no-audit --no-fund --loglevel=error
  # In one step, so that a folder of this name is complete.
  mv -T "$scratch/modules" "$modules" || [ -d "$modules" ]
fi

# A hook of another repository may have left its own git settings in the environment.
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)
mkdir "$scratch/home" "$scratch/runs"
export CHROMIUM PATH=$PWD/bin:$PATH HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home/.config GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export BROWSER_MODULES=$modules/node_modules
node browser/runs.mjs "$scratch/runs"
shots=
[ -z "${SHOTS:-}" ] || shots=$PWD/docs/pictures
timeout --foreground 10m node browser/check.mjs "$scratch/runs" $shots
