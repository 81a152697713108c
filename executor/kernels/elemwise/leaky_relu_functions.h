#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_LEAKY_RELU_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_LEAKY_RELU_FUNCTIONS_H_

// Constants and gamma's indexing, shared by the kernels of LeakyReLU on every device. MXNet:
// src/operator/leaky_relu-inl.h.

#include <algorithm>
#include <cstdint>

#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Constants of selu (Klambauer et al., Self-Normalizing Neural Networks, 2017) and of gelu:
//
//   selu: lambda * x for x > 0, otherwise lambda * alpha * (exp(x) - 1)
//   gelu: x / 2 * (1 + erf(x * sqrt(1 / 2)))
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluLambda = 1.0507009873554804934193349852946;
inline constexpr double kSqrtHalf = 0.70710678118654752440084436210485;
inline constexpr double kSqrtPi = 1.7724538509055160272981674833411;

// Maps element i of data to its element of gamma, the slopes of prelu. Data is viewed as (rows,
// columns, rest). A stride is 0 along an axis where gamma has one element: data (2, 3, 4) and gamma
// (3,) have a row stride of 0 and a column stride of 1. A value that GPU kernels take by value.
class GammaIndex {
 public:
  // Aligns the axes of gamma with the first two of data, from the last one of gamma on; an axis of
  // data that gamma's extent does not fit is skipped. Shape inference has checked the shapes.
  GammaIndex(const Shape& data, const Shape& gamma) {
    rows_ = data.rank() == 0 ? 1 : data[0];
    columns_ = data.rank() < 2 ? 1 : data[1];
    rest_ = data.rank() < 2 ? 1 : data.Product(2, data.rank());
    int left = gamma.rank();
    int64_t stride = 1;
    for (int i = std::min(data.rank(), 2) - 1; i >= 0 && left > 0; --i) {
      const int64_t extent = gamma[left - 1];
      if (extent != data[i] && extent != 1) continue;
      (i == 0 ? row_stride_ : column_stride_) = extent == 1 ? 0 : stride;
      stride *= extent;
      --left;
    }
  }

  // Returns the element of gamma for element i of data. Costs divisions; loops over lines avoid it.
  COOPER_HOST_DEVICE int64_t operator()(int64_t i) const {
    return i / rest_ / columns_ * row_stride_ + i / rest_ % columns_ * column_stride_;
  }

  // The extents of the view of data, and the strides in gamma, in elements.
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t rest() const { return rest_; }
  int64_t row_stride() const { return row_stride_; }
  int64_t column_stride() const { return column_stride_; }

 private:
  int64_t rows_, columns_, rest_;
  int64_t row_stride_ = 0, column_stride_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_LEAKY_RELU_FUNCTIONS_H_
