#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_

// Runs one kernel on cpu(0) and on gpu(0) over equal arrays, of every dtype and write request, and
// expects the same bits in its outputs and its inputs, some of which a kernel may write: of kernels
// that move elements, or sum small integers, which are exact in every dtype. Of others a case says
// how far they may differ. For tables of tests.

#include <cstdint>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct KernelCase {
  std::string name;
  std::string op;      // whose parameters the kernel has
  std::string kernel;  // "" for that of op, or that of its gradient
  AttrMap attrs;
  std::vector<Shape> inputs, outputs;
  // The input that holds indices, if any: below `index_end`, from `index_begin` on. They are
  // float32 and then int64.
  int indices = -1;
  int64_t index_begin = 0, index_end = 1;
  // The outputs that hold indices are of this dtype, all else is of the dtype under test.
  std::vector<int> index_outputs = {};
  std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                               DType::kUint8,   DType::kInt32,   DType::kInt8,
                               DType::kInt64,   DType::kBool,    DType::kBfloat16};
  // Where `roundings` is not 0, floats are numbers from `low` to `high` rather than small integers,
  // and results may differ by so many roundings of their dtype, of 1 or of what is expected if that
  // is more; integers then by 1.
  double roundings = 0;
  double low = -2, high = 2;
  // Added then to the diagonals of inputs (..., n, n), to make matrices definite and regular.
  double diagonal = 0;
  // Outputs are of the dtype so many places after that of the inputs in `dtypes`, turning around.
  int output_dtype_shift = 0;
  bool is_train = false;
};

// Runs the case, with GoogleTest's expectations.
void ExpectEqualKernels(const KernelCase& test);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
