#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_

// The description of a convolution that cuDNN computes, and cuDNN's plan for it, without cuDNN's
// headers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Selects the result: the map, the image or the weight, computed from the other two.
enum class ConvolutionPass : uint8_t { kForward, kDataGradient, kWeightGradient };

// One pass of a convolution of channels-first arrays: image (batch, channels, in...), weight
// (filters, channels / groups, kernel...), map (batch, filters, out...). There are two or three
// spatial axes; cuDNN does not support one.
struct CudnnConvolution {
  ConvolutionPass pass = ConvolutionPass::kForward;
  DType dtype = DType::kFloat32;  // of all three arrays; one of kCudaFloats
  int64_t alignment = 4;          // every address is a multiple of it; at least SizeOf(dtype)
  std::vector<int64_t> image, weight, map;
  std::vector<int64_t> pad, stride, dilate;  // per spatial axis

  // Returns the convolution of `p` for arrays aligned to their elements. A single spatial axis gets
  // a second one of extent 1 in front.
  static CudnnConvolution Of(ConvolutionPass pass, DType dtype, const ConvolutionProduct& p);

  // Returns "forward of float32 image (1, 2, 3, 4), weight (...), map (...), pad (...), ..., at
  // multiples of 4 bytes". Two convolutions are equal if and only if their strings are.
  std::string ToString() const;
};

// Options for the choice among cuDNN's plans.
struct CudnnChoice {
  int64_t max_workspace_bytes = 0;
  // Whether to run the first plans that the heuristics propose and take the fastest, rather than
  // the first. Another process may then choose another plan, whose sums have another order.
  bool by_time = false;
};

// A plan of PlanConvolution. Copies share the descriptor.
struct CudnnPlan {
  std::shared_ptr<void> descriptor;  // a cudnnBackendDescriptor_t
  int64_t workspace_bytes = 0;
  std::string name;  // names the convolution, for errors
};

// The device addresses of a plan's arrays. The pass writes to its result.
struct CudnnArrays {
  const void* image = nullptr;
  const void* weight = nullptr;
  const void* map = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
