#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_

// Conversion and filling of whole arrays on the CPU, for Cast, identity, the init operators and
// reductions. convert_cuda.h is for the GPU, element_block.h converts short runs. Both functions
// use several threads and return when the work is done.

#include "executor/program/kernel.h"

namespace cooper {

// Computes output = or += input, converted to output's dtype. Both have the same number of
// elements. They may share their data if their dtypes are equal. Does nothing with kNull.
//
// Floats are truncated to integers as ConvertElement describes. Integers are converted through
// int64_t. If one of the dtypes is floating, the conversion and the sum of kAdd are in double,
// except from int64 to floats of at most 32 bits: they are in float, which rounds an int64_t once.
// Equal dtypes with kWrite are copied bit by bit.
void ConvertArray(const ArrayView& input, const ArrayView& output, WriteReq req);

// Computes output = or += value, with `value` converted to output's dtype. The sum of kAdd is in
// double, so an int64_t beyond 2^53 is rounded. Does nothing with kNull.
void FillArray(double value, const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
