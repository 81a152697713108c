#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_

// What cuDNN is asked to compute, and its plan for it, without cuDNN's headers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Which of image, weight and map is computed of the other two: the map, the image or the weight.
enum class ConvolutionPass : uint8_t { kForward, kDataGradient, kWeightGradient };

// One pass of a convolution of arrays with their channels first: image (batch, channels, in...),
// weight (filters, channels / groups, kernel...), map (batch, filters, out...). Two spatial axes or
// three: cuDNN has none of one.
struct CudnnConvolution {
  ConvolutionPass pass = ConvolutionPass::kForward;
  DType dtype = DType::kFloat32;  // of all three; one of kCudaFloats
  int64_t alignment = 4;          // all addresses are multiples of it; so is the size of an element
  std::vector<int64_t> image, weight, map;
  std::vector<int64_t> pad, stride, dilate;  // by spatial axis

  // That of `p`, of arrays that are aligned to their elements. One spatial axis gets a second one
  // of extent 1 in front.
  static CudnnConvolution Of(ConvolutionPass pass, DType dtype, const ConvolutionProduct& p);

  // "forward of float32 image (1, 2, 3, 4), weight (...), map (...), pad (...), ..., at multiples
  // of 4 bytes". Equal for equal ones alone.
  std::string ToString() const;
};

// How one of its plans is chosen.
struct CudnnChoice {
  int64_t most_workspace_bytes = 0;
  // The fastest of those that heuristics put first, by running each, rather than the first: it may
  // be another one in the next process, whose sums then have another order.
  bool by_time = false;
};

struct CudnnPlan {
  std::shared_ptr<void> descriptor;  // a cudnnBackendDescriptor_t
  int64_t workspace_bytes = 0;
  std::string name;  // of what it computes, for errors
};

// Where a plan's arrays are, on its device. That which the pass computes is written to.
struct CudnnArrays {
  const void* image = nullptr;
  const void* weight = nullptr;
  const void* map = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_CONVOLUTION_H_
