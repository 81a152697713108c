#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_ARRAYS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_ARRAYS_H_

// The arrays of the two deformable convolutions, of which only one has a mask, for the kernels of
// both devices. Host code.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/deformable_convolution_param.h"

namespace cooper {

// The positions of the arrays of a deformable convolution, in MXNet's order: data, offset, mask of
// the modulated operator only, weight, bias. `first` is the position of data: 0 among the inputs of
// an operator and among gradients, 1 among the inputs of a gradient, after ograd. `mask` is -1
// without a mask; without a bias, `bias` is a position that the node does not have.
struct DeformablePlaces {
  int data, offset, mask, weight, bias;

  DeformablePlaces(bool has_mask, int first)
      : data(first),
        offset(first + 1),
        mask(has_mask ? first + 2 : -1),
        weight(first + (has_mask ? 3 : 2)),
        bias(weight + 1) {}
};

// The products of a deformable convolution, and its windows over all channels. `data` and `map` are
// the shapes of the input and of the output: (batch_size, channels, height, width).
struct DeformableProduct {
  ConvolutionProduct p;
  WindowGeometry all;  // p.g with the channels of all groups

  DeformableProduct(const ConvolutionParam& param, const Shape& data, const Shape& map)
      : p(ProductOf(param, data, map)), all(p.g) {
    all.channels *= p.groups;
  }

  // Returns the elements of the columns of one image, the workspace that a kernel needs for it.
  int64_t column_elements() const { return all.rows() * all.columns(); }
};

// Returns kInvalidArgument if an image has more pixels than int32 counts. `data` is (batch_size,
// channels, height, width). Kernels keep positions of pixels as int32.
inline absl::Status CheckDeformableImage(const Shape& data) {
  const int64_t pixels = data[2] * data[3];
  if (pixels <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("an image of ", pixels,
                                                 " pixels, expected at most 2^31 - 1; input "
                                                 "'data' is ",
                                                 data.ToString()));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_ARRAYS_H_
