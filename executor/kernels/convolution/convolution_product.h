#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_H_

// The three products of a convolution on the CPU, each of which computes one of image, weight and
// map from the other two by im2col and matrix products, or without columns for depthwise
// convolutions (depthwise_product.h). Arrays are channels-first and do not overlap. `workspace` has
// ProductWorkspaceElements() elements.
//
// The kernels of Convolution and Deconvolution use it for float32 and float64 where the graph is
// not blocked (blocked_product.h). T is float or double. The windows are cut into chunks, so that a
// workspace holds the columns of some chunks instead of those of an image. Threads share images and
// chunks, for the gradient of the image the images, and for that of the weight the channels. Chunks
// depend on the shapes alone, and an element is summed in their order, so results depend on the
// number of threads only where those of Gemm do.

#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Returns the elements of the workspace of each function below, for elements of `element_size`
// bytes: room for the columns of some chunks, at most for those of an image or a few megabytes.
int64_t ProductWorkspaceElements(const ConvolutionProduct& p, int64_t element_size);
// Returns its size in bytes.
int64_t ProductWorkspaceBytes(const ConvolutionProduct& p, DType dtype);

// Computes map = or += weight * columns(image): the output of Convolution. A 1 x 1 convolution
// without strides and padding reads the image as the columns and needs no workspace.
template <typename T>
void MapFromImage(const ConvolutionProduct& p, const T* image, const T* weight, T* map, bool add,
                  T* workspace);

// Computes image = or += the sum over windows of columns(weight^T * map): the gradient of the data
// of Convolution, and the output of Deconvolution. Elements of the image that no window covers
// become 0.
template <typename T>
void ImageFromMap(const ConvolutionProduct& p, const T* map, const T* weight, T* image, bool add,
                  T* workspace);

// Computes weight = or += the sum over the batch of map * columns(image)^T: the gradient of the
// weight. The batch is summed in order. An empty batch gives zeros, or what was there with `add`.
template <typename T>
void WeightFromBoth(const ConvolutionProduct& p, const T* image, const T* map, T* weight, bool add,
                    T* workspace);

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
