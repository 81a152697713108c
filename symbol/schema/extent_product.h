#ifndef COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_
#define COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_

// Products and sums of extents for shape rules, whose extents and attributes may be any.

#include <cstdint>
#include <limits>

#include "ndarray/base/partial_shape.h"

namespace cooper {

// extent * count, kUnknownDim if the extent is unknown. A product that int64 cannot hold is its
// greatest value, which inference refuses as too many elements. Requires count >= 0.
inline int64_t ExtentProduct(int64_t extent, int64_t count) {
  if (extent == kUnknownDim) return kUnknownDim;
  int64_t product = 0;
  return __builtin_mul_overflow(extent, count, &product) ? std::numeric_limits<int64_t>::max()
                                                         : product;
}

// a + b, kUnknownDim if either is unknown. As of products, int64's greatest value stands for what
// it cannot hold. Requires that neither is negative otherwise.
inline int64_t ExtentSum(int64_t a, int64_t b) {
  if (a == kUnknownDim || b == kUnknownDim) return kUnknownDim;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_
