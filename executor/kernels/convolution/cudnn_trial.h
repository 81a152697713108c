#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_

// Measures plans of one convolution on a device, on arrays of its own. Cudnn::Plan uses it for a
// choice by time (CudnnChoice::by_time). It allocates device memory outside of any memory plan, and
// frees it at its end.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

// Owns the arrays, the workspace and the stream. Not thread-safe. The caller holds Cudnn's mutex,
// so that no other plan of this process disturbs the measurement by the same handle.
class CudnnTrial {
 public:
  // Allocates the arrays, and a workspace for as many of the plans as memory allows, on the current
  // device, which must remain the current one. The arrays hold ordinary numbers, because a GPU may
  // be faster with zeros.
  CudnnTrial(const CudnnConvolution& convolution, const std::vector<CudnnPlan>& plans);
  CudnnTrial(const CudnnTrial&) = delete;
  CudnnTrial& operator=(const CudnnTrial&) = delete;
  ~CudnnTrial();

  // Returns whether there was memory for the arrays. A workspace that is too small for some plans
  // is not an error: workspace_bytes() is its size.
  const absl::Status& status() const { return status_; }

  // The stream, arrays and workspace for the work to measure. The workspace is the largest one of
  // any plan for which there was memory; null and 0 bytes if there was none.
  cudaStream_t stream() const { return stream_; }
  const CudnnArrays& arrays() const { return arrays_; }
  void* workspace() const { return workspace_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Returns the shortest time, in seconds, of a few runs of the work that `queue` puts into
  // stream(), without the first run, which loads the kernel. Calls `queue` four times. Blocks until
  // the work has run.
  //
  // Errors: those of `queue` and of CUDA.
  absl::StatusOr<double> Seconds(const std::function<absl::Status()>& queue) const;

 private:
  // Creates the stream, the events and the arrays. The destructor frees what was created before an
  // error.
  absl::Status Make(const CudnnConvolution& convolution);
  // Allocates the largest workspace of the plans that memory allows.
  void MakeWorkspace(const std::vector<CudnnPlan>& plans);
  // Returns device memory filled with nonzero bytes.
  absl::StatusOr<void*> Allocate(int64_t bytes);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::vector<void*> blocks_;
  CudnnArrays arrays_;
  void* workspace_ = nullptr;
  int64_t workspace_bytes_ = 0;
  absl::Status status_;  // last: its initializer calls Make, which sets the members above
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_
