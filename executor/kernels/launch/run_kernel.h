#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_

// Runs one kernel on a device, over copies of arrays of the CPU, for tests that compare devices.

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

struct KernelRun {
  std::string kernel;  // the operator's name
  OpCall call;
  std::vector<NDArray> inputs;
  std::vector<NDArray> outputs;  // with what is there before
  std::vector<WriteReq> reqs;    // of the outputs; what has kNull is passed as null
  bool is_train = false;
  // Whether arrays begin an element after where memory is aligned, as views may.
  bool unaligned = false;
};

// All arrays, inputs first, as the kernel leaves them, on the CPU. Its workspace is NaN before, its
// random numbers are the same on every device. The errors are those of the kernel.
absl::StatusOr<std::vector<NDArray>> RunKernelOn(const Context& context, const KernelRun& run);

// Numbers in (-magnitude, magnitude), on the CPU, that depend on `seed` alone.
NDArray RandomArray(const Shape& shape, DType dtype, double magnitude, uint64_t seed);

// Expects, for each element, a difference of at most `roundings` roundings of the largest number
// that is expected, or of 1; NaN where NaN is expected.
void ExpectClose(const NDArray& actual, const NDArray& expected, double roundings,
                 const std::string& what);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_RUN_KERNEL_H_
