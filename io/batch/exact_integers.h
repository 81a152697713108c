#ifndef COOPER_IO_BATCH_EXACT_INTEGERS_H_
#define COOPER_IO_BATCH_EXACT_INTEGERS_H_

// Checks that the integers of a data set, such as word ids, keep their value in the dtype of the
// batches. float16 rounds integers above 2,048, bfloat16 above 256 and float32 above 16,777,216,
// and uint8 keeps the lowest byte; the result would silently be other words.

#include <cstdint>

#include "absl/status/status.h"
#include "io/batch/ragged_array.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Returns kInvalidArgument, with value, sample and dtype, for the first integer that changes when
// it is converted to `dtype`; OK if the dtype of `values` is not an integer. O(elements), or O(1)
// if `dtype` holds every value of their dtype.
absl::Status CheckIntegersAreExact(const RaggedArray& values, DType dtype);

// Returns whether the integer keeps its value when it is converted to `dtype`.
bool HoldsInteger(DType dtype, int64_t value);

// Returns kInvalidArgument, with value, row (of the first axis) and dtype, for the first element of
// `array` that changes when it is converted to `dtype`: an integer value, in an array of any dtype,
// that becomes another one; a fraction, infinity or NaN that becomes an integer; a number beyond
// the range of `dtype`. The rounding of fractions to a float is allowed. O(elements) on the CPU, or
// O(1) if `dtype` holds every value of the array's dtype.
absl::Status CheckExactIn(const NDArray& array, DType dtype);

// Returns whether `value`, such as a padding value, keeps its value in `dtype`. For a float only
// integers up to 2^53 are checked: it may round fractions, and larger values (infinity, -1e30) are
// not word ids.
bool IsExactIn(DType dtype, double value);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_EXACT_INTEGERS_H_
