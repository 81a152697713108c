#!/bin/bash
# Checks that the layer law (layers.bzl) is enforced, which no successful build can show:
# 1. a library with a forbidden dependency fails at loading, with the law's message, for every pair
#    of layers, and for neighbouring folders of a layer;
# 2. a dependency that bypasses that check, by a select() in a plain cc_library, fails tests/layering;
# 3. tests/layering checks every library: its ROOTS reach them all;
# 4. the emulator of CUDA, which selects name (SELECTED in layers.bzl), is not in a build for GPUs.
# The violations are under a second package root, so the source tree is not changed.
set -euo pipefail
cd "$(dirname "$0")/.."
bazel=${BAZEL:-./bazelw}
read -ra startup <<<"${STARTUP:-}"

# A deliberate copy of the table in layers.bzl: a wrong edit of that table must not pass.
FORBIDDEN=(
  ndarray:symbol ndarray:executor ndarray:io ndarray:module
  symbol:executor symbol:io symbol:module
  executor:io executor:module
  io:symbol io:executor io:module
)
for layer in ndarray symbol executor io module; do
  for program in benchmarks examples tests tools; do FORBIDDEN+=("$layer:$program"); done
done

# Folders with their forbidden dependencies, for the same reason: some of each layer.
CLIMBS=(
  ndarray/base:ndarray/threads ndarray/array:ndarray/random ndarray/files:ndarray/cuda
  symbol/schema:symbol/graph symbol/graph:symbol/inference symbol/op:symbol/rnn
  symbol/ops/rules:symbol/ops/nn symbol/ops/loss:symbol/ops/nn symbol/ops/rnn:symbol/ops symbol/ops:symbol/op
  executor/program:executor/plan executor/plan:executor/passes/program
  executor/passes/graph:executor/compile executor/compile:executor/run executor/run:executor
  executor/kernels/loops:executor/kernels/elemwise executor/kernels/softmax:executor/kernels/loss
  executor/kernels/convolution:executor/compile executor/kernels/loss:executor/cpu
  io/batch:io/iterators io/batch:io/buckets
  module/options:module/parameters module/parameters:module/devices module/rows:module/fit
  module/interface:module/fit module/fit:module/network module/network:module/bucketing
  module/predict:module/network module/bucketing:module/checkpoint module/kvstore:module/kvstore/mpi
  module/checkpoint:module module/fit:module
)

fail() { echo "check_layering: $*" >&2; exit 1; }

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT

# 1. One package per pair.
packages=()
for pair in "${CLIMBS[@]}"; do
  low=${pair%%:*} high=${pair##*:}
  package=$low/law_violation/uses_${high//\//_}
  mkdir -p "$planted/$package"
  cat >"$planted/$package/BUILD" <<BUILD
load("//:layers.bzl", "cc_library")

cc_library(
    name = "planted",
    deps = ["//$high:above"],
)
BUILD
  packages+=("//$package:all")
done
# A folder that the order does not name.
mkdir -p "$planted/io/law_violation/unknown"
cat >"$planted/io/law_violation/unknown/BUILD" <<'BUILD'
load("//:layers.bzl", "cc_library")

cc_library(
    name = "planted",
    deps = ["//io/batch:data_batch"],
)
BUILD
packages+=("//io/law_violation/unknown:all")
for pair in "${FORBIDDEN[@]}"; do
  low=${pair%%:*} high=${pair##*:}
  package=$low/law_violation/uses_$high
  mkdir -p "$planted/$package"
  cat >"$planted/$package/BUILD" <<BUILD
load("//:layers.bzl", "cc_library")

cc_library(
    name = "planted",
    deps = ["//$high/law_violation:above"],
)
BUILD
  packages+=("//$package:all")
done
out=$("$bazel" "${startup[@]}" query --noshow_progress --keep_going \
  --package_path="%workspace%:$planted" "set(${packages[*]})" 2>&1) &&
  fail "no violation was refused: $out"
for pair in "${FORBIDDEN[@]}"; do
  low=${pair%%:*} high=${pair##*:}
  words="//$low/law_violation/uses_$high:planted depends on //$high/law_violation:above"
  grep -q "layer law: $low may use only .*; $words\$" <<<"$out" || {
    echo "$out" >&2
    fail "$low could use $high"
  }
done
for pair in "${CLIMBS[@]}"; do
  low=${pair%%:*} high=${pair##*:}
  words="//$low/law_violation/uses_${high//\//_}:planted depends on //$high:above; the order of"
  grep -q "layer law: $low may not use $high; $words ${low%%/*} is " <<<"$out" || {
    echo "$out" >&2
    fail "$low could use $high"
  }
done
grep -q "layer law: ROOMS in layers.bzl has no place for io/law_violation/unknown" <<<"$out" ||
  fail "a folder without a place in the order was taken"
echo "check_layering: $((${#FORBIDDEN[@]} + ${#CLIMBS[@]})) forbidden dependencies were refused, such as:"
grep -m 1 -o "layer law: symbol .*" <<<"$out"
grep -m 1 -o "layer law: module/fit .*" <<<"$out"

# 2. symbol -> module, which the check at loading does not see.
mkdir -p "$planted"/{symbol,module,tests}/law_violation
cat >"$planted/module/law_violation/BUILD" <<'BUILD'
load("//:layers.bzl", "cc_library")

cc_library(
    name = "above",
    visibility = ["//visibility:public"],
)
BUILD
cat >"$planted/symbol/law_violation/BUILD" <<'BUILD'
load("@rules_cc//cc:cc_library.bzl", "cc_library")

cc_library(
    name = "around",
    visibility = ["//visibility:public"],
    deps = select({"//conditions:default": ["//module/law_violation:above"]}),
)
BUILD
cat >"$planted/tests/law_violation/BUILD" <<'BUILD'
load("//tests/layering:defs.bzl", "layering_test")

layering_test(
    name = "planted_test",
    layer = "symbol",
    roots = ["//symbol/law_violation:around"],
)
BUILD
out=$("$bazel" "${startup[@]}" test --noshow_progress --package_path="%workspace%:$planted" \
  //tests/law_violation:planted_test 2>&1) && fail "an indirect path was not found: $out"
grep -q "symbol reaches what it may not use" <<<"$out" || fail "$out"
echo "check_layering: an indirect path was found"

# 3. Libraries that no root reaches, except testonly fixtures and programs, which may use anything.
layers="//ndarray/... + //symbol/... + //executor/... + //io/... + //module/..."
roots="labels(scope, //tests/layering:module_layering_test_members + //tests/layering:module_cuda_layering_test_members)"
missed=$("$bazel" "${startup[@]}" query --noshow_progress \
  "let all = kind('cc_library rule', $layers) in \$all except attr(testonly, 1, \$all) except deps($roots)")
[[ -z "$missed" ]] || fail "add to ROOTS in tests/layering/BUILD, or a library above them:
$missed"
echo "check_layering: ROOTS reach every library"

# 4. The configured graph, in which each select() has one branch.
libraries="//module:base_module + //executor/cuda:all_kernels + //module/kvstore/nccl"
emulator=$("$bazel" "${startup[@]}" cquery --noshow_progress --config=cuda \
  "filter('//tests/', deps($libraries))" 2>/dev/null) || fail "cquery failed"
[[ -z "$emulator" ]] || fail "a build for GPUs holds:
$emulator"
echo "check_layering: no library of a build for GPUs depends on tests"
