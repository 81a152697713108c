#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_

// Runs one kernel on a device, over copies of CPU arrays, for tests that compare devices. It
// prepares and runs the kernel as the executor does, without a graph or a plan. compare_kernels.h
// runs tables of cases through it; tests of single kernels call it directly.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// The arguments of one run. All arrays are on the CPU; the run does not write to them.
struct KernelRun {
  std::string kernel;  // the operator's name
  // The parameters. For the kernel of a gradient it may be the operator's call, whose parameters
  // are the same.
  OpCall call;
  std::vector<NDArray> inputs;
  std::vector<NDArray> outputs;  // with their previous contents
  std::vector<WriteReq> reqs;    // one per output; kNull passes a null array
  bool is_train = false;
  // Whether arrays begin one element after an aligned address, as views may.
  bool unaligned = false;
};

// Returns copies on the CPU of all arrays after the run, inputs first. The workspace is filled with
// NaN, and random numbers are the same on every device. Arrays with kNull come back unchanged.
//
// The kernel runs in a queue that does not synchronise with other streams (kernel_queue.h) and with
// grids of at most 2 blocks per axis (block_limit.h), so that threads loop. 4096 guard bytes follow
// the workspace. One call at a time, because the block limit is global.
//
// Errors: kUnimplemented if no such kernel is linked or it does not support the dtypes; those of
// the kernel; kInternal if it writes beyond its workspace.
absl::StatusOr<std::vector<NDArray>> RunKernelOn(const Context& context, const KernelRun& run);

// Returns numbers in [-magnitude, magnitude), on the CPU, which depend on `seed` and the shape
// only: each dtype gets the same uniform numbers, converted. Integers are truncated towards 0.
// Crashes if memory is exhausted.
NDArray RandomArray(const Shape& shape, DType dtype, double magnitude, uint64_t seed);

// Expects each element to differ by at most `roundings` rounding errors of the largest expected
// magnitude, or of 1 if that is larger, and NaN exactly where NaN is expected. A rounding error is
// half a unit in the last place of the dtype: 2^-24 for float32 and integers, 2^-53 for float64,
// 2^-11 for float16, 2^-8 for bfloat16. Infinities must be equal.
//
// Both arrays are on the CPU and must agree in shape and dtype. Reports at most five elements, each
// with its position, as failures of the current GoogleTest test that begin with `what`.
void ExpectClose(const NDArray& actual, const NDArray& expected, double roundings,
                 const std::string& what);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
