// Implements cudnn_handle.h for builds without cuDNN's headers, or with old ones: cuDNN is never
// found.

#include "executor/kernels/convolution/cudnn_handle.h"

namespace cooper {
namespace {

absl::Status Missing() {
  return absl::FailedPreconditionError(
      "cooper was built without the headers of cuDNN 9.8 or later");
}

}  // namespace

absl::StatusOr<Cudnn*> Cudnn::Of(int /*device_id*/) { return Missing(); }

absl::StatusOr<CudnnPlan> Cudnn::Plan(const CudnnConvolution& /*convolution*/,
                                      const CudnnChoice& /*choice*/) {
  return Missing();
}

absl::Status Cudnn::Run(cudaStream_t /*stream*/, const CudnnPlan& /*plan*/,
                        const CudnnArrays& /*arrays*/, void* /*workspace*/) {
  return Missing();
}

}  // namespace cooper
