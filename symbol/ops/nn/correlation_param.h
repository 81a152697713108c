#ifndef COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data1 and data2 (batch_size, channels, height, width).
struct CorrelationArrays {
  enum Input { kData1, kData2 };
};
struct CorrelationGradientArrays {
  enum Input { kOgrad, kData1, kData2 };
};

struct CorrelationParam {
  int64_t kernel_size = 1;
  int64_t max_displacement = 1;
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

  int64_t border() const { return max_displacement + (kernel_size - 1) / 2; }
  // Displacements along one axis: -radius, ..., radius, in steps of stride2.
  int64_t radius() const { return max_displacement / stride2; }
  int64_t displacements() const { return 2 * radius() + 1; }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_CORRELATION_PARAM_H_
