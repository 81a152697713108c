// Kernels of _sample_multinomial and its gradient for GPUs.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/random/multinomial_draws.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<Prepared> PrepareMultinomial(const PrepareContext& c) {
  return PrepareSums(c, kCudaFloats);
}

template <typename T>
__global__ void SumRows(int64_t rows, int64_t outcomes, const T* data, double* sums) {
  for (int64_t row = FirstElement(); row < rows; row += ElementStep()) {
    double sum = 0;
    for (int64_t i = row * outcomes; i < (row + 1) * outcomes; ++i) {
      sums[i] = sum += ConvertElement<double>(data[i]);
    }
  }
}

template <typename T>
__global__ void DrawOutcomes(int64_t count, MultinomialExtents e, DeviceRandom source,
                             const T* data, const double* sums, void* drawn, DType dtype,
                             WriteReq drawn_req, T* logs, bool add_logs) {
  const Philox random = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t row = i / e.draws * e.outcomes;
    const int64_t outcome = OutcomeOf(sums + row, e.outcomes, random, i);
    if (drawn_req != WriteReq::kNull) {
      StoreElement(drawn, dtype, i, outcome, drawn_req == WriteReq::kAdd);
    }
    if (logs == nullptr) continue;
    StoreTo(logs + i, std::log(ConvertElement<ComputeType<T>>(data[row + outcome])), add_logs);
  }
}

absl::Status MultinomialGpu(const KernelContext& c) {
  using enum MultinomialArrays::Output;
  const ArrayView& data = c.inputs[MultinomialArrays::kData];
  const ArrayView& drawn = c.outputs[kOutcome];
  const MultinomialExtents e(data, drawn);
  return DispatchCudaFloat(data.dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    auto* const sums = static_cast<double*>(c.workspace);
    COOPER_RETURN_IF_ERROR(
        LaunchElements(c, e.rows, SumRows<T>, e.rows, e.outcomes, data.as<T>(), sums));
    const bool has_logs = c.outputs.size() > 1;
    return LaunchElements(c, drawn.size(), DrawOutcomes<T>, drawn.size(), e, DeviceRandomOf(c),
                          data.as<T>(), sums, drawn.data, drawn.dtype, c.reqs[kOutcome],
                          has_logs ? OutputOrNull<T>(c, kLogProb) : nullptr,
                          has_logs && c.reqs[kLogProb] == WriteReq::kAdd);
  });
}

// Each thread sums the draws of one outcome, in order.
template <typename T>
__global__ void SumDraws(int64_t count, MultinomialExtents e, const T* ograd, const T* data,
                         const void* drawn, DType dtype, T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t row = at / e.outcomes, outcome = at - row * e.outcomes;
    C sum = 0;
    for (int64_t i = row * e.draws; i < (row + 1) * e.draws; ++i) {
      if (LoadElement<int64_t>(drawn, dtype, i) != outcome) continue;
      sum += ConvertElement<C>(ograd[i]) / ConvertElement<C>(data[at]);
    }
    StoreTo(grad + at, sum, add);
  }
}

absl::Status MultinomialBackwardGpu(const KernelContext& c) {
  using enum MultinomialGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const ArrayView& drawn = c.inputs[kOutcome];
  const MultinomialExtents e(data, c.inputs[kOgrad]);
  return DispatchCudaFloat(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchElements(c, data.size(), SumDraws<T>, data.size(), e, c.inputs[kOgrad].as<T>(),
                          data.as<T>(), drawn.data, drawn.dtype, c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(_sample_multinomial, DeviceType::kGpu, kAnyDType, MultinomialGpu,
                       PrepareMultinomial);
COOPER_REGISTER_KERNEL(_backward_sample_multinomial, DeviceType::kGpu, kCudaFloats,
                       MultinomialBackwardGpu);

}  // namespace
}  // namespace cooper
