#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_

// Arrays of a device for plans of one convolution, to tell which is the fastest.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

class CudnnTrial {
 public:
  // With room for as many of the plans as there is memory for, on the current device, which must
  // stay that.
  CudnnTrial(const CudnnConvolution& convolution, const std::vector<CudnnPlan>& plans);
  CudnnTrial(const CudnnTrial&) = delete;
  CudnnTrial& operator=(const CudnnTrial&) = delete;
  ~CudnnTrial();

  // Whether there was memory for the arrays.
  const absl::Status& status() const { return status_; }

  cudaStream_t stream() const { return stream_; }
  const CudnnArrays& arrays() const { return arrays_; }
  void* workspace() const { return workspace_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // The least that what `queue` puts into the stream has taken in a few runs, once it has run.
  absl::StatusOr<double> Seconds(const std::function<absl::Status()>& queue) const;

 private:
  absl::Status Make(const CudnnConvolution& convolution);
  void MakeWorkspace(const std::vector<CudnnPlan>& plans);
  // Memory of so many bytes that are no zeros.
  absl::StatusOr<void*> Allocate(int64_t bytes);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::vector<void*> blocks_;
  CudnnArrays arrays_;
  void* workspace_ = nullptr;
  int64_t workspace_bytes_ = 0;
  absl::Status status_;  // the last: Make sets the others
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_TRIAL_H_
