#!/bin/sh
# Runs a command in a view of the file system in which whatever is written outside the
# lab lands in a layer of its own, and lists that: outside.sh LAB COMMAND…
# What was there and is gone is listed too, as removed.
# The list goes to LAB/outside.txt; the files themselves go with this view.
set -eu
lab=$1
shift
case ${OUTSIDE_VIEW:-}:$(id -u) in
:0) OUTSIDE_VIEW=index=off exec unshare --mount "$0" "$lab" "$@" ;;
:*) OUTSIDE_VIEW=userxattr exec unshare --mount --map-root-user "$0" "$lab" "$@" ;;
esac
option=$OUTSIDE_VIEW # what an overlay needs, depending on who we are
unset OUTSIDE_VIEW

layers=$lab/layers
[ -d "$layers" ] || mkdir "$layers"
mount -t tmpfs tmpfs "$layers"
exec 9<"$lab" # what is below it is reached by this, whatever comes to lie over it

over() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 0
  # Who may not write there needs no layer, which not every file system allows them.
  [ -w "$1" ] || [ "$option" != userxattr ] || return 0
  mkdir -p "/proc/self/fd/9/layers$1/up" "/proc/self/fd/9/layers$1/work"
  mount --no-canonicalize -t overlay overlay "$1" -o \
    "$option,lowerdir=$1,upperdir=/proc/self/fd/9/layers$1/up,workdir=/proc/self/fd/9/layers$1/work"
}
for dir in /*; do
  case $dir in /proc | /sys | /dev) ;; *) over "$dir" ;; esac
done
[ -d /proc/self/fd/9/layers/home ] || for dir in /home/*; do over "$dir"; done
mount --no-canonicalize --rbind /proc/self/fd/9 "$lab"
cd "$lab/work"

status=0
"$@" || status=$?
for up in "$layers"/*/up "$layers"/home/*/up; do
  [ -d "$up" ] || continue
  dir=${up#"$layers"}
  dir=${dir%/up}
  find "$up" -mindepth 1 \( -type c -printf "removed $dir/%P\n" -o ! -type d -printf "$dir/%P\n" \)
done >"$lab/outside.txt"
exit "$status"
