#!/usr/bin/env bash
# Writes package-lock.json anew after a change of package.json, in the form in which
# npm ci takes it anywhere: without the host of a registry, and without those optional
# packages (builds for other machines) that the registry does not have.
set -euo pipefail
cd "$(dirname "$0")"
npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund
node -e '
  const fs = require("fs"), file = "package-lock.json", lock = JSON.parse(fs.readFileSync(file));
  const found = (from, name) => {
    for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
      if (lock.packages[(at && at + "/") + "node_modules/" + name]) return true;
      if (!at) return false;
    }
  };
  for (const [at, about] of Object.entries(lock.packages)) {
    for (const name of Object.keys(about.optionalDependencies || {})) {
      if (!found(at, name)) { console.log("not in the registry: " + name + ", wanted by " + at); delete about.optionalDependencies[name]; }
    }
  }
  fs.writeFileSync(file, JSON.stringify(lock, null, 2) + "\n");
'
