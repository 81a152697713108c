#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_POINT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_POINT_H_

// The sampling points of deformable convolutions, for the kernels of both devices. MXNet:
// src/operator/contrib/nn/deformable_im2col.h, modulated_deformable_im2col.h. A point interpolates
// four pixels: its value is the sum over rows i and columns j of y.weight[i] * x.weight[j] *
// pixels[y.pixel[i]][x.pixel[j]], and with y.slope or x.slope in place of a weight the sum is the
// derivative by the position. Host and device; T is float or double.

#include <cmath>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// How the image continues beyond its pixels.
enum class DeformableBorder : uint8_t {
  // Points before the first pixel, or one pixel or more beyond the last one, are 0. Between, they
  // have the value of the last pixel: _contrib_DeformableConvolution.
  kLastPixel,
  // The image is surrounded by pixels of 0: _contrib_ModulatedDeformableConvolution.
  kZeros,
};

// One axis of a point: two neighbouring pixels, within the image, with their weights and the
// derivatives of the weights. At a pixel the derivative is that towards the next one.
template <typename T>
struct DeformableAxis {
  int64_t pixel[2];
  T weight[2], slope[2];

  // Sets the axis for a position among `extent` pixels, at least 1. Returns false if points there
  // are 0 without a derivative; the axis is then unchanged. NaN is such a position.
  COOPER_HOST_DEVICE bool Set(T at, int64_t extent, DeformableBorder border) {
    const bool zeros = border == DeformableBorder::kZeros;
    const bool begins = zeros ? at > -1 : at >= 0;
    if (!(begins && at < static_cast<T>(extent))) return false;
    const auto low = static_cast<int64_t>(std::floor(at));
    const T rest = at - static_cast<T>(low);
    const bool has_low = low >= 0, has_high = low + 1 < extent;
    pixel[0] = has_low ? low : 0;
    pixel[1] = has_high ? low + 1 : low;
    const bool is_flat = !zeros && !has_high;
    weight[0] = !has_low ? T{0} : is_flat ? T{1} : 1 - rest;
    weight[1] = has_high ? rest : T{0};
    slope[0] = !has_low || is_flat ? T{0} : T{-1};
    slope[1] = has_high ? T{1} : T{0};
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_POINT_H_
