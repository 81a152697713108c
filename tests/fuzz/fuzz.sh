#!/bin/bash
# tests/fuzz/fuzz.sh [SECONDS [TARGET...]]: runs the fuzzers of tests/fuzz, each for SECONDS (60), one
# after the other; without TARGETs all of them. Needs clang 14. Interesting inputs are kept in
# $COOPER_FUZZ_CORPUS (~/.cache/cooper-fuzz) and used as seeds the next time. A failing input is kept
# there too, in TARGET-found, and its path is printed. To reproduce the failure:
#
#   COOPER_FUZZ_VERBOSE=1 bazel-bin/tests/fuzz/TARGET_fuzz FILE
#
# Exits with 1 if an input fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
# shellcheck source=tests/fuzz/fuzz_targets.sh
source tests/fuzz/fuzz_targets.sh
targets=("$@")
if ((${#targets[@]} == 0)); then targets=("${fuzz_targets[@]}"); fi
labels=("${targets[@]/#///tests/fuzz:}")
./bazelw build --config=fuzz "${labels[@]/%/_fuzz}"
status=0
for target in "${targets[@]}"; do
  corpus=$fuzz_corpora/$target
  found=$fuzz_corpora/$target-found
  mkdir -p "$corpus" "$found"
  seeds=$(make_seeds "$target")
  echo "== $target: $seconds seconds"
  # shellcheck disable=SC2086  # seeds are words
  UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 \
    "bazel-bin/tests/fuzz/${target}_fuzz" -max_total_time="$seconds" \
    -max_len=65536 -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$found/" -print_final_stats=1 \
    "$corpus" "$seeds" ${fuzz_seeds[$target]:-} 2>"$found/log" || status=1
  grep -E "^stat::number_of_executed_units|^stat::average_exec|^#[0-9]+\s+DONE" "$found/log" || true
  ls "$found" | grep -v '^log$' | sed "s|^|found: $found/|" || true
done
exit "$status"
