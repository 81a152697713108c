// Kernel of _contrib_allclose for CPUs. It compares in double.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/numpy/allclose_param.h"

namespace cooper {
namespace {

bool IsClose(double a, double b, const AllcloseParam& param) {
  if (std::isnan(a) || std::isnan(b)) return param.equal_nan && std::isnan(a) && std::isnan(b);
  return a == b || (std::isfinite(b) && std::fabs(a - b) <= param.atol + param.rtol * std::fabs(b));
}

absl::Status AllcloseCpu(const KernelContext& c) {
  using enum AllcloseArrays::Input;
  const ArrayView& a = c.inputs[kA];
  const ArrayView& b = c.inputs[kB];
  const auto& param = c.param<AllcloseParam>();
  std::atomic<bool> close = true;
  ParallelForPlain(a.size(), 16384, [&](int64_t begin, int64_t end) {
    double x[kElementBlock], y[kElementBlock];
    for (; begin < end && close.load(std::memory_order_relaxed); begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      LoadBlock(ElementAt(a.data, a.dtype, begin), a.dtype, n, x);
      LoadBlock(ElementAt(b.data, b.dtype, begin), b.dtype, n, y);
      for (int64_t i = 0; i < n; ++i) {
        if (!IsClose(x[i], y[i], param)) close.store(false, std::memory_order_relaxed);
      }
    }
  });
  const int64_t result = close.load() ? 1 : 0;
  StoreBlock(&result, 1, c.reqs[0], c.outputs[0].data, c.outputs[0].dtype);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_allclose, DeviceType::kCpu, kAnyDType, AllcloseCpu);

}  // namespace
}  // namespace cooper
