#!/usr/bin/env bash
# The demo: a real graph in a scratch repository.
#
#   make demo             a rehearsal: the stand-in plays the agents; nothing is called
#   REAL=1 make demo      on the coding agents that are signed in here; says first what
#                         it will call, and asks. Without a terminal CONFIRM=1 is the yes.
#   KEEP=0                removes the scratch repository afterwards
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
PATH=$here/bin:$PATH

say() { printf '\n== %s\n' "$*"; }

# A hook of another repository may have left its own git settings in the environment.
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/orchestrate-demo.XXXXXX")
end() {
  if [ "${KEEP:-1}" = 0 ]; then
    rm -rf "$scratch"
  else
    printf '\nEverything is kept in %s; remove it when you have seen it.\n' "$scratch"
  fi
}
trap end EXIT

say "a scratch repository: $scratch"
cp -R "$here/examples/demo/project/." "$scratch"
cp "$here"/examples/demo/jobs.yaml* "$scratch"
cd "$scratch"
git init -q
git add -A
git -c user.name=demo -c user.email=demo@example.invalid -c commit.gpgsign=false -c core.hooksPath=/dev/null \
  commit -q -m "a small project with two failing tests"
say "its tests before the run (sh test.sh)"
sh test.sh || true

verb=rehearse
if [ "${REAL:-0}" = 1 ]; then
  verb=run
  say "what will be called, and how (orchestrate plan jobs.yaml)"
  status=0
  orchestrate plan jobs.yaml || status=$?
  if [ "$status" != 0 ]; then
    printf '\nNothing was called. Each BLOCKED line above has its next step; `make demo` without REAL=1 needs no agent.\n' >&2
    exit "$status"
  fi
  if [ "${CONFIRM:-0}" != 1 ]; then
    if ! [ -t 0 ]; then
      printf '\nNothing was called. To run this plan on your agents: REAL=1 CONFIRM=1 make demo\n' >&2
      exit 3
    fi
    read -r -p $'\nCall these agents now? [y/N] ' answer
    case $answer in
      y | Y | yes) ;;
      *)
        echo "Nothing was called."
        exit 0
        ;;
    esac
  fi
fi

say "orchestrate $verb jobs.yaml"
status=0
orchestrate "$verb" jobs.yaml || status=$?

for run in plans/reports/orchestrate-*; do # the scratch repository has this run only
  [ -d "$run" ] || break
  say "the beginning of $run/report.md"
  sed -n '1,/^## Verdict/{/^## Verdict/d;p;}' "$run/report.md"
  if [ -f "$run/fix/changes.patch" ]; then
    say "the writer's patch, $run/fix/changes.patch"
    cat "$run/fix/changes.patch"
  fi
  if [ -f "$run/fix/checks/1.out" ]; then
    say "the check's own output, $run/fix/checks/1.out"
    cat "$run/fix/checks/1.out"
  fi
done
say "the scratch repository's own checkout (git status --porcelain)"
changed=$(git status --porcelain)
echo "${changed:-as it was: nothing has changed}"
exit "$status"
