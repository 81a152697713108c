#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_

// Runs one kernel on cpu(0) and on gpu(0) over equal arrays, for several dtypes and write requests,
// and expects equal bits in its outputs, and in its inputs, some of which a kernel may write. That
// suits kernels that move elements or sum small integers, which are exact in every dtype. For other
// kernels a case gives a tolerance. For tests with tables of cases.

#include <cstdint>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// One row of a table of tests.
struct KernelCase {
  std::string name;
  std::string op;      // the operator, whose parameters the kernel takes
  std::string kernel;  // "" stands for the kernel of op; otherwise the name of its gradient
  AttrMap attrs;
  std::vector<Shape> inputs, outputs;
  // The input that holds indices in [index_begin, index_end); -1 for none. It is run as float32 and
  // as int64.
  int indices = -1;
  int64_t index_begin = 0, index_end = 1;
  // The outputs that hold indices. They have the dtype of the indices; other arrays have the dtype
  // under test.
  std::vector<int> index_outputs = {};
  std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                               DType::kUint8,   DType::kInt32,   DType::kInt8,
                               DType::kInt64,   DType::kBool,    DType::kBfloat16};
  // If `roundings` is not 0, floats are numbers from `low` to `high` rather than small integers,
  // and results may differ by this many rounding errors of their dtype, relative to the larger of 1
  // and the expected magnitude. Integers may differ by 1 in any case.
  double roundings = 0;
  double low = -2, high = 2;
  // If `roundings` is not 0, added to the diagonals of inputs (..., n, n) to make matrices regular
  // and positive definite.
  double diagonal = 0;
  // Outputs have the dtype this many places after that of the inputs in `dtypes`, cyclically.
  int output_dtype_shift = 0;
  bool is_train = false;
};

// Runs the case and reports differences as failures of the current GoogleTest test.
void ExpectEqualKernels(const KernelCase& test);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
