#ifndef COOPER_EXECUTOR_CUDA_NN_CUDNN_PLAN_H_
#define COOPER_EXECUTOR_CUDA_NN_CUDNN_PLAN_H_

// Plans of convolutions by cuDNN's graph API. cuDNN is opened at run time; from 9.8 on it plans for
// a device that is described and need not be there, so that a machine without a GPU can tell what
// one would run.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

enum class ConvolutionPass : uint8_t { kForward, kDataGradient, kWeightGradient };

// A convolution of float32 arrays with their channels first: image (batch, channels, in...), weight
// (filters, channels / groups, kernel...), map (batch, filters, out...).
struct CudnnConvolution {
  ConvolutionPass pass = ConvolutionPass::kForward;
  std::vector<int64_t> image, weight, map;
  std::vector<int64_t> pad, stride, dilate;  // by spatial axis

  // "forward of image (1, 2, 3, 4), weight (...), map (...), pad (...), ..."
  std::string ToString() const;
};

// OK if cuDNN, and all of it that is used here, is found; else kFailedPrecondition, saying what is
// missing.
absl::Status CheckCudnnInstalled();

struct CudnnPlan {
  int64_t workspace_bytes = 0;
};

// The first plan that cuDNN's heuristics propose for the device and that can be made. `device` is
// cuDNN's description of it, as JSON. kUnimplemented, with cuDNN's reason, if there is none;
// kInternal, naming the call and the convolution, if cuDNN refuses anything else.
absl::StatusOr<CudnnPlan> PlanConvolution(const CudnnConvolution& convolution,
                                          const std::string& device);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_NN_CUDNN_PLAN_H_
