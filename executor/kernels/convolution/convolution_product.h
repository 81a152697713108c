#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_H_

// The three products of a convolution on the CPU, each of which computes one of image, weight and
// map from the other two by im2col and one matrix product per image and group. Arrays are
// channels-first. `workspace` has p.WorkspaceElements() elements.
//
// The kernels of Convolution and Deconvolution use it for float32 and float64 where the graph is
// not blocked (blocked_product.h). T is float or double. The products and copies use several
// threads; the loop over images and groups is sequential, so the workspace holds one image's
// columns. Arrays do not overlap. Sums are in the order of the matrix product.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/im2col.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Computes map = or += weight * columns(image): the output of Convolution. A 1 x 1 convolution
// without strides and padding reads the image as the columns and needs no workspace.
template <typename T>
void MapFromImage(const ConvolutionProduct& p, const T* image, const T* weight, T* map, bool add,
                  T* workspace) {
  for (int64_t i = 0; i < p.batch * p.groups; ++i) {
    // Item i is a group of a sample: the groups of a sample are adjacent, and each has its weight.
    const T* columns = image + i * p.image_step();
    if (!p.g.IsIdentity()) {
      Im2Col(p.g, columns, workspace);
      columns = workspace;
    }
    Gemm(false, false, p.filters, p.g.columns(), p.g.rows(), T{1},
         weight + i % p.groups * p.weight_step(), p.g.rows(), columns, p.g.columns(),
         add ? T{1} : T{}, map + i * p.map_step(), p.g.columns());
  }
}

// Computes image = or += the sum over windows of columns(weight^T * map): the gradient of the data
// of Convolution, and the output of Deconvolution. Elements of the image that no window covers
// become 0.
template <typename T>
void ImageFromMap(const ConvolutionProduct& p, const T* map, const T* weight, T* image, bool add,
                  T* workspace) {
  const bool identity = p.g.IsIdentity();
  for (int64_t i = 0; i < p.batch * p.groups; ++i) {
    T* to = image + i * p.image_step();
    // Computes weight^T * map into the workspace or, if the columns are the image, into the image.
    Gemm(true, false, p.g.rows(), p.g.columns(), p.filters, T{1},
         weight + i % p.groups * p.weight_step(), p.g.rows(), map + i * p.map_step(), p.g.columns(),
         identity && add ? T{1} : T{}, identity ? to : workspace, p.g.columns());
    if (!identity) Col2Im(p.g, workspace, to, add);
  }
}

// Computes weight = or += the sum over the batch of map * columns(image)^T: the gradient of the
// weight. The batch is summed in order. An empty batch gives zeros, or what was there with `add`.
template <typename T>
void WeightFromBoth(const ConvolutionProduct& p, const T* image, const T* map, T* weight, bool add,
                    T* workspace) {
  if (!add) std::fill_n(weight, p.groups * p.weight_step(), T{});
  for (int64_t i = 0; i < p.batch * p.groups; ++i) {
    const T* columns = image + i * p.image_step();
    if (!p.g.IsIdentity()) {
      Im2Col(p.g, columns, workspace);
      columns = workspace;
    }
    // The first product of a group adds to zeros, or to the previous contents.
    Gemm(false, true, p.filters, p.g.rows(), p.g.columns(), T{1}, map + i * p.map_step(),
         p.g.columns(), columns, p.g.columns(), T{1}, weight + i % p.groups * p.weight_step(),
         p.g.rows());
  }
}

// Computes out (batch, channels, size) += bias (channels,). `size` is the product of the spatial
// extents.
template <typename T>
void AddBias(const T* bias, int64_t batch, int64_t channels, int64_t size, T* out) {
  ParallelFor(batch * channels, RowGrain(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T value = bias[i % channels];
      for (int64_t j = i * size; j < (i + 1) * size; ++j) out[j] += value;
    }
  });
}

// Computes grad (channels,) = or += the sums of ograd (batch, channels, size). Rows are summed in
// lanes (LaneSum), which vectorises and reduces rounding errors; the batch is summed in order. Runs
// on the calling thread.
template <typename T>
void BiasGradient(const T* ograd, int64_t batch, int64_t channels, int64_t size, T* grad,
                  bool add) {
  for (int64_t k = 0; k < channels; ++k) {
    T sum = 0;
    for (int64_t n = 0; n < batch; ++n) {
      const T* row = ograd + (n * channels + k) * size;
      sum += LaneSum<T>(size, [&](int64_t i) { return row[i]; });
    }
    Store(grad + k, sum, add);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_H_
