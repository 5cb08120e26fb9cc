#!/bin/sh
# Plays an agent, so that the example needs none: it gets the prompt on standard input, and
# what it prints is the answer.
prompt=$(cat)
echo "Asked in ${#prompt} characters: $(echo "$prompt" | head -n 1 | cut -c 1-60)"
