#!/bin/bash
# layering_test.sh LAYER MEMBERS FORBIDDEN_PATH: see defs.bzl.
if [[ ! -s "$2" ]]; then
  echo "no library of $1 is below ROOTS in tests/layering/BUILD: nothing was checked"
  exit 1
fi
if [[ -s "$3" ]]; then
  echo "layer law (layers.bzl): $1 reaches what it may not use, by this path:"
  cat "$3"
  exit 1
fi
echo "$(wc -l <"$2") targets of $1 were checked"
