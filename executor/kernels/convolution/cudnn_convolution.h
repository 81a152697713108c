#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_

// The description of a convolution that cuDNN computes, and cuDNN's plan for it, without cuDNN's
// headers. The values that cudnn_plan.h (planning), cudnn_trial.h (measuring), cudnn_handle.h
// (caching and running) and cudnn_pass.h (use by kernels) exchange.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Selects the result: the map, the image or the weight, computed from the other two. The values are
// indices of ConvolutionState::cudnn.
enum class ConvolutionPass : uint8_t { kForward, kDataGradient, kWeightGradient };

// One pass of a convolution of channels-first arrays: image (batch, channels, in...), weight
// (filters, channels / groups, kernel...), map (batch, filters, out...). There are two or three
// spatial axes; cuDNN does not support one. The number of groups follows from the channels of image
// and weight.
struct CudnnConvolution {
  ConvolutionPass pass = ConvolutionPass::kForward;
  DType dtype = DType::kFloat32;  // of all three arrays; one of kCudaFloats
  int64_t alignment = 4;          // every address is a multiple of it; at least SizeOf(dtype)
  std::vector<int64_t> image, weight, map;
  std::vector<int64_t> pad, stride, dilate;  // per spatial axis

  // Returns the convolution of `p` for arrays aligned to their elements. A single spatial axis gets
  // a second one of extent 1 in front. A first axis of three that is trivial is omitted, because
  // cuDNN has more plans for two axes.
  static CudnnConvolution Of(ConvolutionPass pass, DType dtype, const ConvolutionProduct& p);

  // Returns "forward of float32 image (1, 2, 3, 4), weight (...), map (...), pad (...), ..., at
  // multiples of 4 bytes". Two convolutions are equal if and only if their strings are, so it is
  // the key of Cudnn's cache, and names the convolution in errors.
  std::string ToString() const;
};

// Options for the choice among cuDNN's plans, from the operator's parameters `workspace` and
// `cudnn_tune`.
struct CudnnChoice {
  int64_t max_workspace_bytes = 0;  // plans with larger workspaces are not considered
  // Whether to run the first plans that the heuristics propose and take the fastest, rather than
  // the first. Another process may then choose another plan, whose sums have another order.
  bool by_time = false;
};

// A plan of PlanConvolution: an engine of cuDNN and its configuration, compiled for the
// convolution. Copies share the descriptor. Immutable; several threads may run it, by Cudnn::Run.
struct CudnnPlan {
  std::shared_ptr<void> descriptor;  // a cudnnBackendDescriptor_t
  int64_t workspace_bytes = 0;
  std::string name;  // names the convolution, for errors
};

// The device addresses of a plan's arrays. The pass writes to its result, although the pointers are
// to const: which array that is depends on the plan.
struct CudnnArrays {
  const void* image = nullptr;
  const void* weight = nullptr;
  const void* map = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
