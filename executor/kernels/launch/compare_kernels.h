#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_

// Runs one kernel on cpu(0) and on gpu(0) over equal arrays, for several dtypes and write requests,
// and expects equal bits in its outputs, and in its inputs, some of which a kernel may write. That
// suits kernels that move elements or sum small integers, which are exact in every dtype. For other
// kernels a case gives a tolerance. For tests with tables of cases.
//
// The CPU kernel is the reference, whose own tests compare it with MXNet or with finite
// differences. run_kernel.h does the single runs and also checks the workspace of a kernel.

#include <cstdint>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// One row of a table of tests.
//
//   {.name = "TakeRows", .op = "take", .attrs = {{"axis", "0"}},
//    .inputs = {{5, 3}, {7}}, .outputs = {{7, 3}}, .indices = 1, .index_end = 5}
//
// The arrays hold integers in a scrambled order that depends on the position of the array among the
// inputs or outputs, so that runs are repeatable: inputs hold 0 to 13, or 0 and 1 for bool, and
// outputs hold 0 to 2 before the run, to which kAdd adds.
struct KernelCase {
  std::string name;    // names the case in messages of failures
  std::string op;      // the operator, whose parameters the kernel takes
  std::string kernel;  // "" stands for the kernel of op; otherwise the name of its gradient
  // The operator's parameters in text form, as Symbol::Create takes them.
  AttrMap attrs;
  // The shapes of the kernel's arrays. A gradient has other inputs than its operator.
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
  // Outputs have the dtype this many places after that of the inputs in `dtypes`, cyclically. For
  // casts: with 1, each dtype is converted to the next one of the list.
  int output_dtype_shift = 0;
  // KernelContext::is_train of the runs: whether an operator such as Dropout runs as in training.
  bool is_train = false;
};

// Runs the case and reports differences as failures of the current GoogleTest test, each with the
// name of the case, the dtypes and the write request. A case runs for each dtype with kWrite, with
// kAdd and with kNull, and once more with kAdd over arrays that begin at unaligned addresses on the
// GPU, which covers the paths without vector accesses.
//
// With a tolerance, NaN is equal to NaN, and 8-bit integers may also differ by 255, because a
// result next to a limit wraps around. Needs a GPU or its emulator, and the kernels for both
// devices linked.
void ExpectEqualKernels(const KernelCase& test);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_COMPARE_KERNELS_H_
