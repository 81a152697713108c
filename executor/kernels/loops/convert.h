#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_

#include "executor/program/kernel.h"

namespace cooper {

// output = input converted to output's dtype, or added to it. The two have one number of elements;
// their data may be the same if their dtypes are.
void ConvertArray(const ArrayView& input, const ArrayView& output, WriteReq req);

// output = value, or added to it.
void FillArray(double value, const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_H_
