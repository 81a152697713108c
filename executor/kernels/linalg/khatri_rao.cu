// GPU kernel of khatri_rao.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr int kMaxFactors = 128;  // a kernel's arguments have at most 4096 bytes

struct Factors {
  const void* data[kMaxFactors];
  int64_t rows[kMaxFactors];
  int count;
};

template <typename T>
__global__ void KhatriRao(int64_t size, int64_t columns, const Factors factors, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    int64_t row = i / columns;  // mixed radix: its digits are the inputs' rows, last one first
    const int64_t column = i % columns;
    C product = 1;
    for (int k = factors.count - 1; k >= 0; --k) {
      const T* data = static_cast<const T*>(factors.data[k]);
      product *= ConvertElement<C>(data[row % factors.rows[k] * columns + column]);
      row /= factors.rows[k];
    }
    StoreTo(out + i, product, add);
  }
}

absl::StatusOr<Prepared> PrepareKhatriRao(const PrepareContext& c) {
  if (c.inputs.size() <= kMaxFactors) return Prepared{};
  return absl::UnimplementedError(absl::StrCat(c.inputs.size(), " inputs, at most ", kMaxFactors));
}

absl::Status KhatriRaoGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  Factors factors = {};
  factors.count = static_cast<int>(c.inputs.size());
  for (int k = 0; k < factors.count; ++k) {
    factors.data[k] = c.inputs[k].data;
    factors.rows[k] = c.inputs[k].shape[0];
  }
  const ArrayView& out = c.outputs[0];
  return DispatchCudaFloat(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchElements(c, out.size(), KhatriRao<T>, out.size(), out.shape[1], factors,
                          out.as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(khatri_rao, DeviceType::kGpu, kCudaFloats, KhatriRaoGpu, PrepareKhatriRao);

}  // namespace
}  // namespace cooper
