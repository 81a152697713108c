#!/bin/bash
# tests/fuzz/fuzz_coverage.sh [FILE]: prints the coverage of the code that reads files by the fuzzers of
# tests/fuzz with their initial inputs: their seeds, and those that tests/fuzz/fuzz.sh has kept. Prints per
# file, from clang's source coverage: functions, lines, and edges (both ways of each condition). With
# FILE (symbol/json/json.cc) prints its lines instead, each with its count. Needs clang 14 and llvm 14.
#
# Exits with 1 if fewer than $COOPER_FUZZ_EDGES (90) percent of all edges are reached.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/fuzz/fuzz_targets.sh
source tests/fuzz/fuzz_targets.sh
readers=(symbol_json params training_state buckets text libsvm records images gzip)
files=(
  symbol/json/json.cc symbol/json/json_graph.cc symbol/json/legacy_json.cc symbol/json/merge_variables.cc
  ndarray/files/params_file.cc ndarray/files/sparse_entry.cc
  module/bucketing/bucket_files.cc module/checkpoint/training_state.cc
  io/batch/bucket_key.cc io/iterators/csv_iter.cc io/text/encode_sentences.cc io/batch/key_values.cc io/text/text_corpus.cc
  io/iterators/libsvm_file.cc io/iterators/byte_stream.cc io/iterators/mnist_iter.cc
  io/records/record_reader.cc io/records/indexed_records.cc io/records/ir_header.cc
  io/images/codec/jpeg_codec.cc io/images/codec/png_codec.cc io/images/codec/image_codec.cc
  io/images/codec/record_image.cc
)

# Only these files are compiled with counters; all others are built as in tests/fuzz/fuzz.sh.
regexes=$(printf ',^%s$' "${files[@]//./\\.}")
labels=("${readers[@]/#///tests/fuzz:}")
./bazelw build --config=fuzz --linkopt=-fprofile-instr-generate \
  --per_file_copt="${regexes:1}@-fprofile-instr-generate,-fcoverage-mapping,-fcoverage-compilation-dir=." \
  "${labels[@]/%/_fuzz}"

profiles=$(mktemp -d)
trap 'rm -rf "$profiles"' EXIT
objects=()
for reader in "${readers[@]}"; do
  mkdir -p "$fuzz_corpora/$reader"
  seeds=$(make_seeds "$reader")
  # shellcheck disable=SC2086  # seeds are words
  LLVM_PROFILE_FILE="$profiles/$reader.profraw" ASAN_OPTIONS=allocator_may_return_null=1 \
    "bazel-bin/tests/fuzz/${reader}_fuzz" -runs=0 -max_len=65536 -rss_limit_mb=2048 \
    "$fuzz_corpora/$reader" "$seeds" ${fuzz_seeds[$reader]:-} 2>"$profiles/log" ||
    { tail -n 40 "$profiles/log"; exit 2; }
  objects+=(-object "bazel-bin/tests/fuzz/${reader}_fuzz")
done
llvm-profdata-14 merge -o "$profiles/all" "$profiles"/*.profraw
read_all=("${objects[@]:1}" -instr-profile="$profiles/all" -compilation-dir="$PWD")

if (($# > 0)); then
  llvm-cov-14 show "${read_all[@]}" -show-branches=count "$@"
  exit
fi
report=$(llvm-cov-14 report "${read_all[@]}" -show-region-summary=0 -show-branch-summary "${files[@]}")
echo "$report" | sed "s|$PWD/||; s/Branches/   Edges/g"
edges=$(echo "$report" | awk '$1 == "TOTAL" { print $NF }')
echo "edges: $edges, expected ${COOPER_FUZZ_EDGES:-90}% or more"
awk -v got="${edges%\%}" -v least="${COOPER_FUZZ_EDGES:-90}" 'BEGIN { exit got < least }'
