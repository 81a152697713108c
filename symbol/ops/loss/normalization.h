#ifndef COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_
#define COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_

// The divisor of a loss's gradient, a parameter of SoftmaxOutput and of the operators that are
// fused from it. loss_batch_layout.cc registers which divisors grow with the batch size, for
// batch_layout.h.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The names are MXNet's. The rescale_grad of an optimizer usually divides by the batch size too;
// with kBatch it should be 1.
enum class Normalization : uint8_t {
  kNull,   // nothing
  kBatch,  // the batch size
  kValid,  // the number of elements that count, at least 1
};

// MXNet's names of the values: those of an operator's `normalization` parameter.
inline constexpr EnumNames<Normalization> kNormalizationNames = {{"null", Normalization::kNull},
                                                                 {"batch", Normalization::kBatch},
                                                                 {"valid", Normalization::kValid}};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_
