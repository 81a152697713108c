#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_

// One pass of a convolution by cuDNN for arrays at any addresses. It is planned when a node is
// bound, so that its workspace is part of the memory plan, and queued when the node runs.
// ConvolutionPasses (convolution_passes.h) runs passes; Cudnn (cudnn_handle.h) has the plans.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_handle.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// A planned pass, or an absent one. Copyable; the handle and the plan are shared.
//
//   // When the node is bound, with the device as the current one:
//   COOPER_ASSIGN_OR_RETURN(pass, CudnnPass::Create(device_id, ConvolutionPass::kForward, dtype, p,
//                                                   {.max_workspace_bytes = 1 << 30}));
//   // In each run:
//   return pass.Run(stream, {.image = x, .weight = w, .map = y}, workspace);
class CudnnPass {
 public:
  // Creates an absent pass.
  CudnnPass() = default;

  // Plans a pass on a device, which must be the current one. For 16-bit floats it also plans for
  // addresses at multiples of 16, for which cuDNN has faster plans by tensor cores.
  //
  // Errors: kFailedPrecondition if cuDNN is not found, or not in use for this pass: it is switched
  // off, or the setting is kWhereFaster (cudnn_switch.h) and float32 or float64 has fewer than 8
  // images, where composed products take less time; the errors of Cudnn::Of and Cudnn::Plan.
  static absl::StatusOr<CudnnPass> Create(int device_id, ConvolutionPass pass, DType dtype,
                                          const ConvolutionProduct& p, const CudnnChoice& choice);

  // Returns whether the pass is planned. Only then may it run.
  bool is_planned() const { return cudnn_ != nullptr; }
  // The bytes of workspace that Run needs, a multiple of 256. They include up to 256 bytes that
  // align the workspace.
  int64_t workspace_bytes() const;

  // Queues the pass on `stream`. `workspace` has workspace_bytes() bytes, at any address. The
  // device must be the current one. Selects the plan by the addresses of all three arrays. The
  // result is overwritten. Thread-safe.
  //
  // Errors: those of Cudnn::Run.
  absl::Status Run(cudaStream_t stream, const CudnnArrays& arrays, void* workspace) const;

 private:
  Cudnn* cudnn_ = nullptr;
  CudnnPlan plan_;     // for arrays aligned to their elements
  CudnnPlan aligned_;  // for arrays at multiples of 16, which may be faster; plan_ if there is none
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PASS_H_
