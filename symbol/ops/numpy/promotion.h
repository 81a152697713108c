#ifndef COOPER_SYMBOL_OPS_NUMPY_PROMOTION_H_
#define COOPER_SYMBOL_OPS_NUMPY_PROMOTION_H_

// The dtypes of results of NumPy arithmetic, as MXNet 1.9.1 chooses them, which is not always as
// NumPy does: int64 and float32 give float32, int8 and uint8 give int32.

#include "ndarray/base/dtype.h"

namespace cooper {

// Returns the dtype of a sum of arrays of dtypes `a` and `b`: a floating dtype if one is floating,
// else an integer dtype if one is an integer, else bool. Of two floating dtypes, and of two integer
// dtypes, it is the wider one; of float16 and bfloat16, and of int8 and uint8, the next wider one.
DType PromotedType(DType a, DType b);

// Returns the dtype of a quotient: that of a sum if it is floating, else float32.
DType QuotientType(DType a, DType b);

// Returns the dtype of a sum of an array and a number: `array`, except that a fraction and integers
// or bools give float64, and an integer and bools give int64.
DType TypeWithScalar(DType array, bool scalar_is_int);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_PROMOTION_H_
