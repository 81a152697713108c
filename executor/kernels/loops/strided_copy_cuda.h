#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_

// Copies between arrays of one GPU that are walked with strides of their own, as
// executor/kernels/loops/strided_copy.h does on the CPU. Everything is queued on the context's
// queue.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The GPU as the Device of the kernels in executor/kernels/shape. Pointers are to its memory.
struct CudaMover {
  // dst = src, or dst += src with kAdd, for every element of `loop`; kNull does nothing. `src` and
  // `dst` are the elements at which the loop begins; the two must not overlap, and no destination
  // stride may be 0. One launch. kUnimplemented if the loop is too deep.
  static absl::Status Copy(const KernelContext& c, const StridedLoop& loop, DType dtype,
                           WriteReq req, const void* src, void* dst);

  // dst = src or dst += src for arrays of one size and dtype, which may be the same array.
  static absl::Status CopyAll(const KernelContext& c, const ArrayView& src, WriteReq req,
                              const ArrayView& dst);

  // Elements of `src` summed into those of `dst`, all of which the loop reaches unless it is empty;
  // where a destination stride is 0 they are added in the order of the loop, in float for the
  // 16-bit floats. One launch.
  static absl::Status Sum(const KernelContext& c, const StridedLoop& loop, WriteReq req,
                          const void* src, const ArrayView& dst);

  // Writes `value` to the loop's destinations, of which `begin` is the first in `whole`.
  static absl::Status Fill(const KernelContext& c, const StridedLoop& loop, double value,
                           const ArrayView& whole, int64_t begin);

  // Zeroes what kWrite is about to write parts of, or sums of. Nothing for other requests.
  static absl::Status Zero(const KernelContext& c, WriteReq req, const ArrayView& dst);
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_
