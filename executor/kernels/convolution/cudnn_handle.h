#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_

// Runs convolutions on a GPU by cuDNN. The library is loaded at run time; a build without cuDNN's
// headers behaves as if it were missing (without_cudnn.cc). Does not include cuDNN's headers.
// CudnnPass is its caller: it adds the handling of addresses that cuDNN's plans do not allow.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

// cuDNN on one device, with a cache of plans. Planning is slow, and measuring plans slower, so
// nodes of equal shapes share a plan.
class Cudnn {
 public:
  // Returns the handle of a device, created at the first call and kept for the life of the process;
  // creation is slow and takes device memory. Thread-safe.
  //
  // Errors: kFailedPrecondition, with the reason, if the library is not found, which is always so
  // under the emulator; kInternal if cuDNN rejects the device or its driver.
  static absl::StatusOr<Cudnn*> Of(int device_id);

  // Returns a plan of PlanConvolution for this device, and caches it; errors are those of
  // PlanConvolution, of which kUnimplemented is cached too. The device must be the current one. A
  // choice by time needs memory for all arrays and workspaces. If some of it is missing, this call
  // returns the fastest plan that it could run, or the one with the smallest workspace, and does
  // not cache it. The cache is cleared at 4096 plans; plans in use stay valid. Thread-safe; callers
  // wait for each other.
  absl::StatusOr<CudnnPlan> Plan(const CudnnConvolution& convolution, const CudnnChoice& choice);

  // Queues a plan of this device on `stream`, which may be capturing. `workspace` has
  // plan.workspace_bytes bytes, at a multiple of 256, and may be null if that is 0. The device must
  // be the current one. Arrays have the alignment of the convolution that was planned. Thread-safe.
  //
  // Errors: those of CudnnStatus, with the plan's name.
  absl::Status Run(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                   void* workspace);

 private:
  explicit Cudnn(void* handle) : handle_(handle) {}

  // Returns the plan that `choice` selects: the first one, or the fastest of the first 12. Sets
  // `*is_final` to false if memory was too short to compare all candidates. Requires mutex_.
  absl::StatusOr<CudnnPlan> Choose(const CudnnConvolution& convolution, const CudnnChoice& choice,
                                   bool* is_final);
  // Does the work of Run. Requires mutex_.
  absl::Status RunLocked(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                         void* workspace);

  void* const handle_;  // a cudnnHandle_t
  std::mutex mutex_;    // a handle may be used by one thread at a time
  // By the string of the convolution and of the choice.
  std::map<std::string, absl::StatusOr<CudnnPlan>> plans_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_
