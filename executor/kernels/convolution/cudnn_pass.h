#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_

// One pass of a convolution by cuDNN, wherever its arrays are: planned when a node is bound, so
// that its workspace is part of the memory plan, and queued when it runs.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_handle.h"
#include "ndarray/base/dtype.h"

namespace cooper {

class CudnnPass {
 public:
  // One that is not there.
  CudnnPass() = default;

  // kFailedPrecondition if cuDNN is not found or not to be used (cudnn_switch.h); the errors of
  // Cudnn::Of and Cudnn::Plan.
  static absl::StatusOr<CudnnPass> Create(int device_id, ConvolutionPass pass, DType dtype,
                                          const ConvolutionProduct& p, const CudnnChoice& choice);

  bool is_there() const { return cudnn_ != nullptr; }
  int64_t workspace_bytes() const;  // a multiple of 256

  // Queues the pass on `stream`. `workspace` has workspace_bytes(), at any address. The device must
  // be the current one.
  absl::Status Run(cudaStream_t stream, const CudnnArrays& arrays, void* workspace) const;

 private:
  Cudnn* cudnn_ = nullptr;
  CudnnPlan plan_;     // for arrays that are aligned to their elements
  CudnnPlan aligned_;  // a faster one for arrays at multiples of 16; plan_ where there is none
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_
