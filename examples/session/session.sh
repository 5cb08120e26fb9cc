#!/bin/sh
# Starts a run and carries out the jobs that it has for the session:
#
#   session.sh FOLDER COMMAND…
#
# FOLDER has jobs.yaml and agents.json. COMMAND is the agent: it works in the job's folder,
# gets the prompt on standard input, and its standard output is the answer.
set -eu
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

field() { sed -n "s/^$1: //p" "$work/request" | head -n 1; }

run=$(orchestrate run --detach --agents "$folder/agents.json" "$folder/jobs.yaml")
while :; do
  status=0
  orchestrate next "$run" --wait 50s --by session.sh >"$work/request" || status=$?
  [ "$status" != 5 ] || continue # there is none yet
  attempt=$(field attempt)
  if [ "$status" != 0 ] || [ -z "$attempt" ]; then # the run has ended, or needs a person
    cat "$work/request"
    exit "$status"
  fi
  job=$(field job | cut -d ' ' -f 1)
  dir=$(field 'works in')
  sed '1,/^the prompt, for the agent/d' "$work/request" >"$work/prompt"

  if (cd "$dir" && "$@") <"$work/prompt" >"$work/answer"; then
    orchestrate submit "$run" "$job" --attempt "$attempt" --result "$work/answer"
  else
    orchestrate submit "$run" "$job" --attempt "$attempt" --failed "the agent ended with status $?"
  fi
done
