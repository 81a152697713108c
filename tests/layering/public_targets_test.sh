#!/bin/bash
# public_targets_test.sh LABELS PAGE: the public targets that a query found are those of the page.
set -euo pipefail

# Without short names, which no library depends on.
listed() {
  awk -F '`' '
    /Short name of/ { next }
    /^## @cooper/ { folder = $0; sub(/^## @cooper/, "", folder); next }
    /^\| `/ { print folder ":" $2 }' "$1"
}

# Targets for GPUs are below other roots and are not checked.
if ! diff <(grep -vE 'cuda|nccl' "$1" | sort) <(listed "$2" | grep -vE 'cuda|nccl' | sort); then
  echo "docs/targets.md is old (< public, > listed): run tools/public_targets.py"
  exit 1
fi
[[ -s "$1" ]]
