#ifndef COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_

// Arrays and parameters of Correlation, the layer that compares two feature maps in FlowNet
// (Dosovitskiy et al., FlowNet: Learning Optical Flow with Convolutional Networks, 2015). The
// schema is in correlation.cc, the kernel in executor/kernels/convolution/correlation.cc. MXNet:
// src/operator/correlation.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data1 and data2 (batch_size, channels, height, width). The output is (batch_size,
// displacements^2, rows, columns): one channel for each displacement (dy, dx), row by row.
struct CorrelationArrays {
  enum Input { kData1, kData2 };
};
// Inputs of the gradients of data1 and data2.
struct CorrelationGradientArrays {
  enum Input { kOgrad, kData1, kData2 };
};

// For a patch of data1 around a position and the patch of data2 that is displaced from it, the
// output is the sum over channels and the kernel_size^2 elements of the products, or of the
// absolute differences, divided by channels * kernel_size^2. Images are padded with zeros. Values
// are limited to 2^20, so that sums of them fit int64.
struct CorrelationParam {
  // Extent of a patch, in elements.
  int64_t kernel_size = 1;
  // Largest displacement along an axis, in elements. Displacements are multiples of stride2.
  int64_t max_displacement = 1;
  // Step between the positions of patches of data1: the output has 1 / stride1 of the positions.
  int64_t stride1 = 1;
  int64_t stride2 = 1;
  int64_t pad_size = 0;
  bool is_multiply = true;

  static void Declare(ParamDeclaration<CorrelationParam>& d) {
    d.Field("kernel_size", &CorrelationParam::kernel_size)
        .Min(1)
        .Max(1 << 20)
        .Doc("extent of a patch");
    d.Field("max_displacement", &CorrelationParam::max_displacement)
        .Min(0)
        .Max(1 << 20)
        .Doc("how far patches of data2 may lie from those of data1");
    d.Field("stride1", &CorrelationParam::stride1)
        .Min(1)
        .Max(1 << 20)
        .Doc("steps of patches of data1");
    d.Field("stride2", &CorrelationParam::stride2)
        .Min(1)
        .Max(1 << 20)
        .Doc("steps of displacements");
    d.Field("pad_size", &CorrelationParam::pad_size).Min(0).Max(1 << 20).Doc("zeros on all sides");
    d.Field("is_multiply", &CorrelationParam::is_multiply)
        .Doc("whether elements are multiplied, not subtracted");
  }

  // Distance of the outermost positions from the edges of the padded images: there all displaced
  // patches lie inside.
  int64_t border() const { return max_displacement + (kernel_size - 1) / 2; }
  // Displacements along one axis: -radius, ..., radius, in steps of stride2.
  int64_t radius() const { return max_displacement / stride2; }
  int64_t displacements() const { return 2 * radius() + 1; }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_
