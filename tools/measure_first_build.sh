#!/bin/bash
# tools/measure_first_build.sh [FOLDER]: measures the README's two commands from nothing: seconds of the
# clock, of all processors, and the ratio of the latter to those of a yardstick, `g++ -O2 -c` of
# GoogleTest's gtest-all.cc, which hardly depends on the machine.
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

# cpu_seconds PID: what a process and the children that it has waited for have used.
cpu_seconds() {
  awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) / tick }' "/proc/$1/stat"
}

# yardstick: the seconds of the compilation, the least of three.
yardstick() {
  local source=/usr/src/googletest/googletest i
  TIMEFORMAT=%U
  for i in 1 2 3; do
    { time g++ -O2 -c -I"$source" -I"$source/include" "$source/src/gtest-all.cc" -o /dev/null; } 2>&1
  done | sort -n | head -n 1
}

# timed NAME ARGS...: prints the times of `bazelw --output_base=... ARGS`; returns 1 if it fails.
timed() {
  local name=$1 command=$2 start=$SECONDS server
  shift 2
  ./bazelw --output_base="$folder/output_base" "$command" \
    --profile="$folder/$name.gz" "$@" >"$folder/$name.log" 2>&1 </dev/null ||
    { tail -n 20 "$folder/$name.log" >&2; echo "measure_first_build: $name failed" >&2; return 1; }
  server=$(./bazelw --output_base="$folder/output_base" info server_pid 2>/dev/null)
  used=$(cpu_seconds "$server")
  awk -v name="$name" -v clock=$((SECONDS - start)) -v cpu="$used" -v before="$before" -v yard="$yard" \
    'BEGIN { printf "%s: %d s, %.0f s of processors, ratio %.0f\n", name, clock, cpu - before, (cpu - before) / yard }'
  before=$used
}

echo "$(nproc) processors,$(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2); in $folder"
trap './bazelw --output_base="$folder/output_base" shutdown' EXIT
yard=$(yardstick)
before=0
echo "yardstick $yard s"
timed run run //examples:lstm_bucketing
timed test test //...
