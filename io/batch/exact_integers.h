#ifndef COOPER_IO_BATCH_EXACT_INTEGERS_H_
#define COOPER_IO_BATCH_EXACT_INTEGERS_H_

// Whether the integers of a data set, such as the numbers of words, are still themselves in the
// dtype of the batches. A float16 rounds what is above 2,048, a bfloat16 above 256, a float32 above
// 16,777,216, and a uint8 keeps the lowest byte: other words, and nothing that shows it.

#include <cstdint>

#include "absl/status/status.h"
#include "io/batch/ragged_array.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// kInvalidArgument, with value, sample and dtype, for the first integer that changes when it is
// converted to `dtype`. OK for values that are no integers. A pass over the elements, unless
// `dtype` holds every value of theirs.
absl::Status CheckIntegersAreExact(const RaggedArray& values, DType dtype);

// Whether the integer is still itself in `dtype`.
bool HoldsInteger(DType dtype, int64_t value);

// kInvalidArgument, with value, row (of the first axis) and dtype, for the first element of `array`
// that changes when it is converted to `dtype`: an integer, whatever dtype it is in, that becomes
// another one, a fraction, infinity or NaN that becomes an integer, and a number beyond the range
// of `dtype`. Fractions that a float rounds are none. A pass over the elements, on the CPU, unless
// `dtype` holds every value of theirs.
absl::Status CheckExactIn(const NDArray& array, DType dtype);

// Whether `value`, such as what fills padding, is still itself in `dtype`. Of a float this is asked
// of integers up to 2^53 only: it rounds fractions, and what is larger (infinity, -1e30) is no
// number of a word.
bool IsExactIn(DType dtype, double value);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_EXACT_INTEGERS_H_
