#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_INDEX_CHECK_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_INDEX_CHECK_H_

// How kernels report an index out of range: the first one's number stays in a word of the
// workspace, and the host reads it. For .cu files.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {

using FirstBad = unsigned long long;  // what atomicMin takes
inline constexpr int64_t kFirstBadBytes = sizeof(FirstBad);

// Queues that none is bad.
inline absl::Status ResetFirstBad(const KernelContext& c, FirstBad* first_bad) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaMemsetAsync(first_bad, 0xff, kFirstBadBytes, StreamOf(c)),
                    "cudaMemsetAsync");
}

__device__ inline void ReportBad(FirstBad* first_bad, int64_t number) {
  if (first_bad != nullptr) atomicMin(first_bad, static_cast<FirstBad>(number));
}

// Waits for what has been queued, then returns the least number that was reported, if any.
inline absl::StatusOr<std::optional<int64_t>> ReadFirstBad(const KernelContext& c,
                                                           const FirstBad* first_bad) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  FirstBad number = 0;
  COOPER_RETURN_IF_ERROR(CudaStatus(
      cudaMemcpyAsync(&number, first_bad, kFirstBadBytes, cudaMemcpyDeviceToHost, StreamOf(c)),
      "cudaMemcpyAsync"));
  COOPER_RETURN_IF_ERROR(CudaStatus(cudaStreamSynchronize(StreamOf(c)), "cudaStreamSynchronize"));
  if (number == ~FirstBad{0}) return std::nullopt;
  return static_cast<int64_t>(number);
}

// Element i of an array of indices, brought to the host.
inline absl::StatusOr<int64_t> ReadIndex(const KernelContext& c, const ArrayView& indices,
                                         int64_t i) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return DispatchDType(indices.dtype, [&](auto tag) -> absl::StatusOr<int64_t> {
    using T = typename decltype(tag)::type;
    T element;
    COOPER_RETURN_IF_ERROR(CudaStatus(cudaMemcpyAsync(&element, indices.as<T>() + i, sizeof(T),
                                                      cudaMemcpyDeviceToHost, StreamOf(c)),
                                      "cudaMemcpyAsync"));
    COOPER_RETURN_IF_ERROR(CudaStatus(cudaStreamSynchronize(StreamOf(c)), "cudaStreamSynchronize"));
    return ConvertElement<int64_t>(element);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_INDEX_CHECK_H_
