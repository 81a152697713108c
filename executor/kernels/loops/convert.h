#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_

#include "executor/program/kernel.h"

namespace cooper {

// Computes output = or += input, converted to output's dtype. Both have the same number of
// elements. They may share their data if their dtypes are equal. Uses several threads.
void ConvertArray(const ArrayView& input, const ArrayView& output, WriteReq req);

// Computes output = or += value.
void FillArray(double value, const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
