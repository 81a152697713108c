// GPU kernels of add_n and of the sum of the gradients of one value (symbol/graph/gradient.h).

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

constexpr size_t kMaxTerms = 256;  // per pass: a kernel's arguments have at most 4096 bytes

struct Terms {
  const void* data[kMaxTerms];
  int count;
};

// Adds the terms, in order, to `partial`, or to 0 in the first pass. The last pass converts the sum
// into `out`.
template <typename C>
__global__ void Sum(int64_t n, Terms terms, DType dtype, bool first, bool last, C* partial,
                    void* out, bool add) {
  // Most arrays have dtype C, which avoids the switch over dtypes for each term.
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

// Adds two float32 arrays, the case of residual networks.
__global__ void SumOfTwoFloats(int64_t n, const float* a, const float* b, float* out, bool add) {
  MapQuads(n, a, b, out, add, [](int64_t, float x, float y) { return x + y; });
}

// With more terms than one pass takes, partial sums are kept in a scratch array of the compute
// type. They are rounded and added to the output once, as on the CPU. The output may share memory
// with any term because it is written after all terms have been read.
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
