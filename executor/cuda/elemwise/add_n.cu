// GPU kernels of add_n and of the sum of the gradients that reach one value (symbol/gradient.h).

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

constexpr int kMaxTerms = 256;  // a kernel's arguments are 4096 bytes at most

struct Terms {
  const void* data[kMaxTerms];
  int count;
};

// One pass over all terms, in their order: `out` may be any of them.
template <typename C>
__global__ void Sum(int64_t n, Terms terms, DType dtype, void* out, bool add) {
  // Most arrays are of the type that one computes in: no switch for each term then.
  const bool native = dtype == DTypeOf<C>();
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C sum = 0;
    for (int k = 0; k < terms.count; ++k) {
      const C term = native ? static_cast<const C*>(terms.data[k])[i]
                            : LoadElement<C>(terms.data[k], dtype, i);
      sum = k == 0 ? term : sum + term;
    }
    StoreElement(out, dtype, i, sum, add);
  }
}

absl::StatusOr<Prepared> PrepareSum(const PrepareContext& c) {
  if (c.inputs.size() > kMaxTerms) {
    return absl::UnimplementedError(absl::StrCat(c.inputs.size(), " inputs, at most ", kMaxTerms));
  }
  return Prepared{};
}

absl::Status SumGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  Terms terms;
  terms.count = static_cast<int>(c.inputs.size());
  for (int k = 0; k < terms.count; ++k) terms.data[k] = c.inputs[k].data;
  const ArrayView& out = c.outputs[0];
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, out.size(), Sum<decltype(zero)>, out.size(), terms, out.dtype,
                          out.data, c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(add_n, DeviceType::kGpu, kAnyDType, SumGpu, PrepareSum);
COOPER_REGISTER_KERNEL(_grad_sum, DeviceType::kGpu, kAnyDType, SumGpu, PrepareSum);

}  // namespace
}  // namespace cooper
