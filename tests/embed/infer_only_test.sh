#!/bin/bash
# infer_only_test.sh PROGRAM DEPS: shape inference as a dependency works, and links no kernel.
# infer_only_test.sh --labels DEPS: looks at the labels alone (tools/bzlmod/check_bzlmod.py).
set -euo pipefail
program=$1 deps=$2

fail() { echo "FAIL: $*"; exit 1; }

# "| grep -q" would end the writer early, which pipefail takes for a failure.
refuse() {
  local found
  found=$(grep -E "$2" <<<"$1" | head -5 || true)
  [[ -z "$found" ]] || fail "$3:"$'\n'"$found"
}

# A repository prints as @cooper// (Bazel 4.2.3), @@cooper~// (7) or @@cooper+// (8 and 9), or under
# the name that this workspace gives it; one of a module extension as @@cooper++system+mpi//.
targets=$(<"$deps")
cooper=$(sed -n 's|//symbol:infer_shape$|//|p' <<<"$targets")
[[ -n "$cooper" ]] || fail "the list of targets lacks infer_shape"
refuse "${targets//"$cooper"/cooper//}" '^cooper//(executor|io|module)[:/]' \
  "it depends on a layer that runs graphs"
refuse "$targets" '^@+([^/]*[~+])?(onednn|eigen|mpi)([~+][^/]*)?//' \
  "it depends on a library for kernels"
[[ "$program" != --labels ]] || exit 0

expected='data (32, 650)
fc_weight (800, 650)
fc_bias (800,)'
output=$("$program")
[[ "$output" == "$expected" ]] || fail "it prints"$'\n'"$output"

# The program as it has been linked.
symbols=$(nm -C --defined-only "$program")
grep -q 'cooper::InferShape(' <<<"$symbols" || fail "nm does not show InferShape"
refuse "$symbols" 'cooper::.*(FindKernel|KernelState|KernelContext|KernelRegistrar|cooper_kernel_registrar)|Eigen::| (dnnl|GOMP|omp)_' "it links kernels"
needed=$(readelf -d "$program" | grep NEEDED)
refuse "$needed" 'libdnnl|libgomp|libmpi|libcud' "it loads a library for kernels"

echo "$(stat -Lc %s "$program") bytes, $(wc -l <<<"$symbols") symbols, no kernel among them"
