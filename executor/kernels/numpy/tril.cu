// GPU kernels of _npi_tril and of its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/numpy/tril_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// Writes each element up to the diagonal of its matrix, and zeros behind it. A vector is every row.
template <typename C>
__global__ void Tril(int64_t n, int64_t rows, int64_t columns, int64_t k, bool is_vector,
                     const void* data, void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t row = i / columns % rows, j = i % columns;
    const bool kept = j <= row + k;
    StoreElement(out, dtype, i, kept ? LoadElement<C>(data, dtype, is_vector ? j : i) : C{0}, add);
  }
}

// Sums each column of the head gradient's triangle, one thread per column.
template <typename C>
__global__ void SumColumns(int64_t n, int64_t k, const void* ograd, void* out, DType dtype,
                           bool add) {
  for (int64_t j = FirstElement(); j < n; j += ElementStep()) {
    C sum = 0;
    for (int64_t row = 0; row < n; ++row) {
      if (j <= row + k) sum += LoadElement<C>(ograd, dtype, row * n + j);
    }
    StoreElement(out, dtype, j, sum, add);
  }
}

absl::Status TrilGpu(const KernelContext& c) {
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  const ArrayView& out = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
  const int64_t rows = out.shape[out.shape.rank() - 2], columns = out.shape[out.shape.rank() - 1];
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, out.size(), Tril<decltype(zero)>, out.size(), rows, columns,
                          c.param<TrilParam>().diagonal(rows, columns), data.shape.rank() == 1,
                          data.data, out.data, out.dtype, c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status TrilBackwardGpu(const KernelContext& c) {
  const ArrayView& out = c.outputs[0];
  if (out.shape.rank() != 1) return TrilGpu(c);
  if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, out.size(), SumColumns<decltype(zero)>, out.size(),
                          c.param<TrilParam>().diagonal(out.size(), out.size()),
                          c.inputs[OneInputGradientArrays::kOgrad].data, out.data, out.dtype,
                          c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(_npi_tril, DeviceType::kGpu, kAnyDType, TrilGpu);
COOPER_REGISTER_KERNEL(_backward_npi_tril, DeviceType::kGpu, kAnyDType, TrilBackwardGpu);

}  // namespace
}  // namespace cooper
