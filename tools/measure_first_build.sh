#!/bin/bash
# tools/measure_first_build.sh [FOLDER]: measures the README's two commands from nothing, in seconds.
#
# They run in a clone of HEAD under FOLDER (else a temporary one), with a disk cache and an output
# base of their own, and write Bazel's profiles there for `bazel analyze-profile`. The packages that
# bazelw installs must be installed already, and nothing else should be running.
set -euo pipefail
parent=$(realpath -m "${1:-${TMPDIR:-/tmp}}")  # of the caller's folder
cd "$(dirname "$0")/.."
mkdir -p "$parent"
folder=$(mktemp -d "$parent/first_build.XXXXXX")
git clone --quiet "file://$PWD" "$folder/cooper"
cd "$folder/cooper"
# Read last, so that no cache of another checkout is used.
echo "build --disk_cache=$folder/disk_cache" >.bazelrc.user

# timed NAME ARGS...: prints the time of `bazelw --output_base=... ARGS`; returns 1 if it fails.
timed() {
  local name=$1 command=$2 start=$SECONDS
  shift 2
  ./bazelw --output_base="$folder/output_base" "$command" \
    --profile="$folder/$name.gz" "$@" >"$folder/$name.log" 2>&1 </dev/null ||
    { tail -n 20 "$folder/$name.log" >&2; echo "measure_first_build: $name failed" >&2; return 1; }
  echo "$name $((SECONDS - start)) s"
}

echo "$(nproc) processors,$(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2); in $folder"
trap './bazelw --output_base="$folder/output_base" shutdown' EXIT
timed run run //examples:lstm_bucketing
timed test test //...
