#!/bin/sh
# test.sh: one test a line; the exit status is that of the worst.
cd "$(dirname "$0")" || exit 1
status=0

expect() { # WHAT WANT GOT
  if [ "$2" = "$3" ]; then
    echo "ok    $1"
  else
    echo "FAIL  $1: want \"$2\", got \"$3\""
    status=1
  fi
}

expect "one name" "Hello, Ada!" "$(sh greet.sh Ada)"
expect "a name with a space in it" "Hello, Ada Lovelace!" "$(sh greet.sh "Ada Lovelace")"
expect "nobody to greet" "Hello, whoever you are!" "$(sh greet.sh)"
exit $status
