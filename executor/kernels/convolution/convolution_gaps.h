#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GAPS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GAPS_H_

// The data gradient of convolutions with a 1 x 1 kernel and strides: a convolution without strides
// gives the gradient of the elements under windows, and the elements between windows get zeros.
// cuDNN takes up to 3.9 ms for such a gradient of ResNet-50 with 32 images on an H100 when it
// computes the gaps itself, and a tenth of that without them. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"

namespace cooper {

// Returns whether windows have one element, no padding and a stride above 1 along some axis: most
// elements of the image then are under no window, and their gradient is 0.
inline bool HasGaps(const WindowGeometry& g) {
  bool has_stride = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (g.kernel[axis] != 1 || g.pad[axis] != 0) return false;
    has_stride = has_stride || g.stride[axis] > 1;
  }
  return has_stride;
}

// Returns the convolution whose image has only the elements under windows: one with the extents of
// the map and without strides. Requires HasGaps(p.g).
inline ConvolutionProduct WithoutGaps(ConvolutionProduct p) {
  for (int axis = 0; axis < 3; ++axis) {
    p.g.in[axis] = p.g.out[axis];
    p.g.stride[axis] = 1;
  }
  return p;
}

// Sets, or adds to, image (channels, in...) the values (channels, out...) of its elements under
// windows. Without `add` the other elements become 0. `count` is the number of elements of the
// image, in which `channels` counts all samples and groups. Index is the unsigned type of the
// divisions. Sums are in float for the 16-bit floats. Each element of the image belongs to one
// thread. Costs as much as a copy of the image.
template <typename T, typename Index>
__global__ void SpreadOverGaps(int64_t count, WindowGeometry g, const T* values, T* image,
                               bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    Index rest = static_cast<Index>(i);
    Index at[3];
    for (int axis = 2; axis >= 0; --axis) {
      const Index extent = static_cast<Index>(g.in[axis]);
      at[axis] = rest % extent;
      rest /= extent;
    }
    // A pixel is under a window if each coordinate is a multiple of the stride.
    bool under_window = true;
    Index from = rest;  // the channel
    for (int axis = 0; axis < 3; ++axis) {
      const Index stride = static_cast<Index>(g.stride[axis]);
      const Index window = at[axis] / stride;
      under_window = under_window && window * stride == at[axis];
      from = from * static_cast<Index>(g.out[axis]) + window;
    }
    if (add && !under_window) continue;
    StoreTo(image + i, under_window ? ConvertElement<C>(values[from]) : C{0}, add);
  }
}

// Queues SpreadOverGaps for the images of all samples and groups. `p` is the convolution with gaps;
// `values` has the layout of an image of WithoutGaps(p). One launch. Errors: those of Launch.
template <typename T>
absl::Status LaunchSpreadOverGaps(const KernelContext& c, const ConvolutionProduct& p,
                                  const T* values, T* image, bool add) {
  const int64_t count = p.batch * p.groups * p.image_step();
  return DispatchIndex(count, [&](auto index) {
    return LaunchElements(c, count, SpreadOverGaps<T, decltype(index)>, count, p.g, values, image,
                          add);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GAPS_H_
