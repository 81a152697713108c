#ifndef COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_
#define COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_

// Products and sums of extents for shape rules. Extents and attributes may have any value, since
// they may come from untrusted files, and the overflow of a signed integer is undefined in C++;
// results here are defined for all values, and too large ones are refused later.

#include <cstdint>
#include <limits>

#include "ndarray/base/partial_shape.h"

namespace cooper {

// Returns extent * count, kUnknownDim if the extent is unknown. On overflow returns the greatest
// int64, which inference refuses as too many elements. Requires count >= 0. An extent of 0 gives 0,
// whatever `count` is.
inline int64_t ExtentProduct(int64_t extent, int64_t count) {
  if (extent == kUnknownDim) return kUnknownDim;
  int64_t product = 0;
  return __builtin_mul_overflow(extent, count, &product) ? std::numeric_limits<int64_t>::max()
                                                         : product;
}

// Returns a + b, kUnknownDim if either is unknown, and the greatest int64 on overflow. Known
// extents must not be negative.
inline int64_t ExtentSum(int64_t a, int64_t b) {
  if (a == kUnknownDim || b == kUnknownDim) return kUnknownDim;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_EXTENT_PRODUCT_H_
