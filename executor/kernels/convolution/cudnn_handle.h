#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_

// Convolutions on a GPU by cuDNN. The library is opened at run time, and where cooper is built
// without its headers it is never found (without_cudnn.cc). cuDNN's headers are not included.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

class Cudnn {
 public:
  // That of a device, made at the first call and kept: it takes a while, and memory of the device.
  // kFailedPrecondition, saying why, if the library is not found, as is always so under the
  // emulator; kInternal if it refuses the device or its driver.
  static absl::StatusOr<Cudnn*> Of(int device_id);

  // One of PlanConvolution's plans for this device, and its errors. What was found once is kept,
  // that there is no plan too. The device must be the current one; to choose by time it needs
  // memory for all arrays, without which it is the plan that needs the least, this once.
  // Thread-safe.
  absl::StatusOr<CudnnPlan> Plan(const CudnnConvolution& convolution, const CudnnChoice& choice);

  // Queues a plan of this device on `stream`, which may be captured. `workspace` has as many bytes
  // as the plan asks for, at a multiple of 256. The device must be the current one. Thread-safe.
  absl::Status Run(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                   void* workspace);

 private:
  explicit Cudnn(void* handle) : handle_(handle) {}

  // `*is_final`: whether all plans that may be chosen were looked at, which takes memory.
  absl::StatusOr<CudnnPlan> Choose(const CudnnConvolution& convolution, const CudnnChoice& choice,
                                   bool* is_final);
  absl::Status RunLocked(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                         void* workspace);

  void* const handle_;  // a cudnnHandle_t
  std::mutex mutex_;    // a handle is used by one thread at a time
  std::map<std::string, absl::StatusOr<CudnnPlan>> plans_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_HANDLE_H_
