#ifndef COOPER_SYMBOL_EXTENT_PRODUCT_H_
#define COOPER_SYMBOL_EXTENT_PRODUCT_H_

// For shape rules that multiply an extent by a number of an attribute, either of which may be any.

#include <cstdint>
#include <limits>

#include "ndarray/partial_shape.h"

namespace cooper {

// extent * count, kUnknownDim if the extent is unknown. A product that int64 cannot hold is its
// greatest value, which inference refuses as too many elements. Requires count >= 0.
inline int64_t ExtentProduct(int64_t extent, int64_t count) {
  if (extent == kUnknownDim) return kUnknownDim;
  int64_t product = 0;
  return __builtin_mul_overflow(extent, count, &product) ? std::numeric_limits<int64_t>::max()
                                                         : product;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_EXTENT_PRODUCT_H_
