#!/bin/sh
# greet.sh NAME...: greets each name on a line of its own.
for name in $*; do
  echo "Hello, $name!"
done
