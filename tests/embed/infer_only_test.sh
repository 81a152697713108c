#!/bin/bash
# infer_only_test.sh PROGRAM DEPS: shape inference as a dependency works, and links no kernel.
set -euo pipefail
program=$1 deps=$2

fail() { echo "FAIL: $*"; exit 1; }

# "| grep -q" would end the writer early, which pipefail takes for a failure.
refuse() {
  local found
  found=$(grep -E "$2" <<<"$1" | head -5 || true)
  [[ -z "$found" ]] || fail "$3:"$'\n'"$found"
}

expected='data (32, 650)
fc_weight (800, 650)
fc_bias (800,)'
output=$("$program")
[[ "$output" == "$expected" ]] || fail "it prints"$'\n'"$output"

targets=$(<"$deps")
grep -q 'cooper//symbol:infer_shape$' <<<"$targets" || fail "the list of targets lacks infer_shape"
refuse "$targets" 'cooper//(executor|io|module)[:/]' "it depends on a layer that runs graphs"
refuse "$targets" '^@+(onednn|eigen|mpi)' "it depends on a library for kernels"

# As the linker saw it.
symbols=$(nm -C --defined-only "$program")
grep -q 'cooper::InferShape(' <<<"$symbols" || fail "nm does not show InferShape"
refuse "$symbols" 'cooper::.*(FindKernel|KernelState|KernelContext|KernelRegistrar|cooper_kernel_registrar)|Eigen::| (dnnl|GOMP|omp)_' "it links kernels"
needed=$(readelf -d "$program" | grep NEEDED)
refuse "$needed" 'libdnnl|libgomp|libmpi|libcud' "it loads a library for kernels"

echo "$(stat -Lc %s "$program") bytes, $(wc -l <<<"$symbols") symbols, no kernel among them"
