#!/usr/bin/env bash
# Writes package-lock.json anew after a change of package.json, without the host of a
# registry, so that npm ci takes it anywhere.
set -euo pipefail
cd "$(dirname "$0")"
npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund
