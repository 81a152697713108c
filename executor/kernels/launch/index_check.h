#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_INDEX_CHECK_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_INDEX_CHECK_H_

// Reports indices out of range from kernels: a word of the workspace keeps the lowest position of a
// bad index, and the host reads it. The lowest position makes the message the same in every run.
// For .cu files: take with mode raise, gather_nd and its relatives, and the factorizations of
// linalg, which report the number of a matrix that is not positive definite or is singular.
//
//   auto* first_bad = static_cast<FirstBad*>(c.workspace);
//   COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
//   COOPER_RETURN_IF_ERROR(LaunchElements(c, n, CheckIndices, n, indices, first_bad));
//   COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, first_bad));
//   if (bad.has_value()) return absl::InvalidArgumentError(...);
//
// The last step waits for the GPU, so kernels do it only where the operator must fail; it also
// means that the kernel's work cannot be recorded (RecordingQueue::Record).

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

// The word in device memory. All bits set stand for no bad index. Unsigned, so that atomicMin takes
// it and the mark is the largest value.
using FirstBad = unsigned long long;  // the type that atomicMin takes
// The bytes that a kernel adds to its workspace for a FirstBad.
inline constexpr int64_t kFirstBadBytes = sizeof(FirstBad);

// Queues a reset of *first_bad, in device memory, to no bad index. Errors: those of CUDA.
inline absl::Status ResetFirstBad(const KernelContext& c, FirstBad* first_bad) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaMemsetAsync(first_bad, 0xff, kFirstBadBytes, StreamOf(c)),
                    "cudaMemsetAsync");
}

// Records the position of a bad index. Does nothing if `first_bad` is null. `number` is the
// position that the message names, usually the index's offset in its array; it must not be
// negative. Any thread may call it, at any time; with many bad indices the atomic operations
// serialise.
__device__ inline void ReportBad(FirstBad* first_bad, int64_t number) {
  if (first_bad != nullptr) atomicMin(first_bad, static_cast<FirstBad>(number));
}

// Waits for the queue, then returns the lowest position that was reported, if any. Errors: those of
// CUDA, including errors of work that was queued before.
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

// Copies element i of an array of indices to the host, truncated to an integer, for the message
// about it. Waits for the queue. Errors: those of CUDA.
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
