#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_

// Runs one kernel on a device, over copies of CPU arrays, for tests that compare devices.

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

// The arguments of one run.
struct KernelRun {
  std::string kernel;  // the operator's name
  OpCall call;
  std::vector<NDArray> inputs;
  std::vector<NDArray> outputs;  // with their previous contents
  std::vector<WriteReq> reqs;    // one per output; kNull passes a null array
  bool is_train = false;
  // Whether arrays begin one element after an aligned address, as views may.
  bool unaligned = false;
};

// Returns copies on the CPU of all arrays after the run, inputs first. The workspace is filled with
// NaN, and random numbers are the same on every device. Errors: those of the kernel; kInternal if
// it writes beyond its workspace.
absl::StatusOr<std::vector<NDArray>> RunKernelOn(const Context& context, const KernelRun& run);

// Returns numbers in (-magnitude, magnitude), on the CPU, which depend on `seed` and the shape
// only.
NDArray RandomArray(const Shape& shape, DType dtype, double magnitude, uint64_t seed);

// Expects each element to differ by at most `roundings` rounding errors of the largest expected
// magnitude, or of 1 if that is larger, and NaN exactly where NaN is expected.
void ExpectClose(const NDArray& actual, const NDArray& expected, double roundings,
                 const std::string& what);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
