#!/bin/sh
# Stands for an agent: does what the two jobs of jobs.yaml ask, without any model.
prompt=$(cat)
case $prompt in
*NOTES.md*)
  { echo "This folder has:"; ls; } >NOTES.md
  echo "NOTES.md lists the files."
  ;;
*) ls ;;
esac
