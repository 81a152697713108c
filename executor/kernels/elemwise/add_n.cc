// Kernel of add_n: sums the inputs in order, block by block.

#include <algorithm>

#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

template <typename C>
void AddRange(const KernelContext& c, int64_t begin, int64_t end) {
  const ArrayView& output = c.outputs[0];
  const bool native = output.dtype == DTypeOf<C>();
  C sum[kElementBlock];
  C converted[kElementBlock];
  for (; begin < end; begin += kElementBlock) {
    const int64_t n = std::min(kElementBlock, end - begin);
    for (size_t k = 0; k < c.inputs.size(); ++k) {
      const ArrayView& input = c.inputs[k];
      const void* at = ElementAt(input.data, input.dtype, begin);
      const C* values = static_cast<const C*>(at);
      if (!native) {
        LoadBlock(at, input.dtype, n, converted);
        values = converted;
      }
      if (k == 0) {
        std::copy_n(values, n, sum);
      } else {
        for (int64_t i = 0; i < n; ++i) sum[i] = WrapAdd(sum[i], values[i]);
      }
    }
    StoreBlock(sum, n, c.reqs[0], ElementAt(output.data, output.dtype, begin), output.dtype);
  }
}

absl::Status AddNCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  DispatchComputeType(c.outputs[0].dtype, /*exact_integers=*/true, [&](auto zero) {
    ParallelFor(c.outputs[0].size(), 16384,
                [&](int64_t begin, int64_t end) { AddRange<decltype(zero)>(c, begin, end); });
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(add_n, DeviceType::kCpu, kAnyDType, AddNCpu);
COOPER_REGISTER_KERNEL(_grad_sum, DeviceType::kCpu, kAnyDType, AddNCpu);

}  // namespace
}  // namespace cooper
