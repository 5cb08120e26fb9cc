#!/bin/sh
# Runs a command in a view of the file system in which whatever is written outside the
# lab lands in a layer of its own, and lists that: outside.sh LAB COMMAND…
# What was there and is gone is listed too, as removed.
# The list goes to LAB/outside.txt; the files themselves go with this view.
set -eu
lab=$1
shift
if [ "${OUTSIDE_VIEW:-}" = "" ]; then
  root=
  [ "$(id -u)" = 0 ] || root=--map-root-user
  OUTSIDE_VIEW=1 exec unshare --mount $root "$0" "$lab" "$@"
fi
unset OUTSIDE_VIEW

layers=$lab/layers
[ -d "$layers" ] || mkdir "$layers"
mount -t tmpfs tmpfs "$layers"
exec 9<"$lab" # what is below it is reached by this, whatever comes to lie over it

over() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 0
  mkdir -p "/proc/self/fd/9/layers$1/up" "/proc/self/fd/9/layers$1/work"
  mount --no-canonicalize -t overlay overlay "$1" -o \
    "lowerdir=$1,upperdir=/proc/self/fd/9/layers$1/up,workdir=/proc/self/fd/9/layers$1/work"
}
for dir in /*; do
  case $dir in /proc | /sys | /dev) ;; *) over "$dir" ;; esac
done
mount --no-canonicalize --rbind /proc/self/fd/9 "$lab"
cd "$lab/work"

status=0
"$@" || status=$?
for layer in "$layers"/*; do
  find "$layer/up" -mindepth 1 \( -type c -printf "removed /${layer##*/}/%P\n" -o ! -type d -printf "/${layer##*/}/%P\n" \)
done >"$lab/outside.txt"
exit "$status"
