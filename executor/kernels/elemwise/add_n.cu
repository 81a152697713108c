// GPU kernels of add_n and of the sum of the gradients that reach one value
// (symbol/graph/gradient.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/map_quads.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr size_t kMaxTerms = 256;  // of one pass: a kernel's arguments are 4096 bytes at most

struct Terms {
  const void* data[kMaxTerms];
  int count;
};

// Adds the terms, in their order, to `partial` unless these are the first; and converts the sum
// into `out` if they are the last.
template <typename C>
__global__ void Sum(int64_t n, Terms terms, DType dtype, bool first, bool last, C* partial,
                    void* out, bool add) {
  // Most arrays are of the type that one computes in: no switch for each term then.
  const bool native = dtype == DTypeOf<C>();
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C sum = first ? C{0} : partial[i];
    for (int k = 0; k < terms.count; ++k) {
      const C term = native ? static_cast<const C*>(terms.data[k])[i]
                            : LoadElement<C>(terms.data[k], dtype, i);
      sum = first && k == 0 ? term : sum + term;
    }
    if (last) {
      StoreElement(out, dtype, i, sum, add);
    } else {
      partial[i] = sum;
    }
  }
}

// What residual networks add.
__global__ void SumOfTwoFloats(int64_t n, const float* a, const float* b, float* out, bool add) {
  MapQuads(n, a, b, out, add, [](int64_t, float x, float y) { return x + y; });
}

// More terms than one pass takes meet in a scratch array of the type that one computes in: they are
// rounded and added to the output once, as by the CPU, and the output may be any of them, since it
// is written when all have been read.
absl::StatusOr<Prepared> PrepareSum(const PrepareContext& c) {
  if (c.inputs.size() <= kMaxTerms || c.reqs[0] == WriteReq::kNull) return Prepared{};
  Prepared prepared;
  const ArrayView& out = c.outputs[0];
  COOPER_RETURN_IF_ERROR(DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    prepared.workspace_bytes = out.size() * static_cast<int64_t>(sizeof(zero));
    return absl::OkStatus();
  }));
  return prepared;
}

absl::Status SumGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& out = c.outputs[0];
  const size_t count = c.inputs.size();
  if (count == 2 && out.dtype == DType::kFloat32) {
    return LaunchElements(c, QuadsOf(out.size()), SumOfTwoFloats, out.size(),
                          c.inputs[0].as<float>(), c.inputs[1].as<float>(), out.as<float>(),
                          c.reqs[0] == WriteReq::kAdd);
  }
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) -> absl::Status {
    using C = decltype(zero);
    for (size_t begin = 0; begin < count; begin += kMaxTerms) {
      Terms terms;
      terms.count = static_cast<int>(std::min(kMaxTerms, count - begin));
      for (int k = 0; k < terms.count; ++k) terms.data[k] = c.inputs[begin + k].data;
      COOPER_RETURN_IF_ERROR(LaunchElements(c, out.size(), Sum<C>, out.size(), terms, out.dtype,
                                            begin == 0, begin + terms.count == count,
                                            static_cast<C*>(c.workspace), out.data,
                                            c.reqs[0] == WriteReq::kAdd));
    }
    return absl::OkStatus();
  });
}

COOPER_REGISTER_KERNEL(add_n, DeviceType::kGpu, kAnyDType, SumGpu, PrepareSum);
COOPER_REGISTER_KERNEL(_grad_sum, DeviceType::kGpu, kAnyDType, SumGpu, PrepareSum);

}  // namespace
}  // namespace cooper
