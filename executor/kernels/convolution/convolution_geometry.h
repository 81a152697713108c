#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GEOMETRY_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GEOMETRY_H_

// Extents of Convolution, Deconvolution, im2col and col2im, from their parameters and shapes. All
// convolution kernels, of both devices, describe their work by these structs, so that one, two and
// three spatial axes are one case. The functions are pure; shape inference has checked their
// arguments.

#include <cstdint>

#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/im2col_param.h"

namespace cooper {

// The windows of an image and their positions. With fewer than three spatial axes, the first ones
// have extent 1. A trivially copyable value, which GPU kernels take by value.
//
// The columns are a matrix (rows(), columns()): row c * kernel_size() + k holds the element of
// channel c under element k of the kernel, for each window; 0 stands for padding. Along an axis,
// window o covers the image elements
//
//   o * stride + k * dilate - pad, 0 <= k < kernel
//
// For example, a kernel of 3 x 3 with a padding of 1 on images (16, 5, 7) has
//
//   in = out = {1, 5, 7}, kernel = {1, 3, 3}, pad = {0, 1, 1}, rows() = 144, columns() = 35
struct WindowGeometry {
  int64_t channels = 1;
  int64_t in[3] = {1, 1, 1};   // extents of the image
  int64_t out[3] = {1, 1, 1};  // positions of the window
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};  // in elements, between adjacent windows
  int64_t dilate[3] = {1, 1, 1};  // in elements, between adjacent elements of a window
  int64_t pad[3] = {0, 0, 0};     // in elements, at both ends

  COOPER_HOST_DEVICE int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  COOPER_HOST_DEVICE int64_t image_size() const { return in[0] * in[1] * in[2]; }  // of one channel
  COOPER_HOST_DEVICE int64_t rows() const { return channels * kernel_size(); }
  COOPER_HOST_DEVICE int64_t columns() const { return out[0] * out[1] * out[2]; }
  // Returns whether the columns equal the image, so that they need not be computed: windows of one
  // element without strides and padding.
  bool IsIdentity() const {
    for (int i = 0; i < 3; ++i) {
      if (kernel[i] != 1 || stride[i] != 1 || pad[i] != 0) return false;
    }
    return true;
  }
};

// A convolution from `image` (batch, channels, in...) to `map` (batch, filters, out...) with weight
// (filters, channels / groups, kernel...):
//
//   map[n][f][o] = sum over c and k of weight[f][c][k] * image[n][c][o * stride + k * dilate - pad]
//
// For each group it is a matrix product: map (filters, columns) = weight (filters, rows) * columns.
// A Deconvolution is the product with data and output in each other's place.
struct ConvolutionProduct {
  WindowGeometry g;                // of one group
  int64_t batch, groups, filters;  // filters of one group

  // The elements of one group of one sample in the image and in the map. Groups are adjacent, so
  // group g of sample n begins at (n * groups + g) times the step.
  int64_t image_step() const { return g.channels * g.image_size(); }
  int64_t map_step() const { return filters * g.columns(); }
  // The elements of the columns of one group of one sample; 0 if they are the image itself.
  int64_t WorkspaceElements() const { return g.IsIdentity() ? 0 : g.rows() * g.columns(); }
  // The elements of one group's weight.
  int64_t weight_step() const { return filters * g.rows(); }
};

// Returns the product of a Convolution with plain shapes (batch, channels, spatial...). `image` is
// the shape of the data, `map` that of the output. Absent strides and dilations are 1, absent
// paddings 0.
inline ConvolutionProduct ProductOf(const ConvolutionParam& param, const Shape& image,
                                    const Shape& map) {
  ConvolutionProduct p;
  p.batch = image[0];
  p.groups = param.num_group;
  p.g.channels = image[1] / param.num_group;
  p.filters = map[1] / param.num_group;
  const int spatial = static_cast<int>(param.kernel.size());
  for (int i = 0; i < spatial; ++i) {
    const int at = 3 - spatial + i;
    p.g.in[at] = image[2 + i];
    p.g.out[at] = map[2 + i];
    p.g.kernel[at] = param.kernel[i];
    p.g.stride[at] = WindowValue(param.stride, i, 1);
    p.g.dilate[at] = WindowValue(param.dilate, i, 1);
    p.g.pad[at] = WindowValue(param.pad, i, 0);
  }
  return p;
}

// Returns the product of a Deconvolution, whose data is the map and whose output is the image. With
// a target shape, the padding follows from it. The adjustment `adj` needs no field: it only makes
// the image larger.
inline ConvolutionProduct ProductOf(const DeconvolutionParam& param, const Shape& image,
                                    const Shape& map) {
  ConvolutionProduct p = ProductOf(static_cast<const ConvolutionParam&>(param), image, map);
  const int spatial = static_cast<int>(param.kernel.size());
  for (int i = 0; i < spatial; ++i) {
    p.g.pad[3 - spatial + i] = param.PadAndAdj(i, map[2 + i]).first;
  }
  return p;
}

// Returns the geometry of im2col, or of col2im, whose output is the image. `image` is its plain
// shape (batch, channels, spatial...).
inline WindowGeometry GeometryOf(const Im2colParam& param, const Shape& image) {
  WindowGeometry g;
  g.channels = image[1];
  const int spatial = static_cast<int>(param.kernel.size());
  for (int i = 0; i < spatial; ++i) {
    const int at = 3 - spatial + i;
    g.in[at] = image[2 + i];
    g.kernel[at] = param.kernel[i];
    g.stride[at] = WindowValue(param.stride, i, 1);
    g.dilate[at] = WindowValue(param.dilate, i, 1);
    g.pad[at] = WindowValue(param.pad, i, 0);
    g.out[at] =
        (g.in[at] + 2 * g.pad[at] - DilatedExtent(g.kernel[at], g.dilate[at])) / g.stride[at] + 1;
  }
  return g;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_GEOMETRY_H_
