#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_

// Copies elements between arrays of one GPU with different strides;
// executor/kernels/loops/strided_copy.h is for the CPU. All work goes to the context's queue; no
// function waits or allocates.
//
// Errors: kUnimplemented if a loop is too deep, and those of Launch.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The GPU as the Device of the kernels in executor/kernels/shape. Pointers are device pointers.
struct CudaMover {
  // Computes dst = or += src for every element of `loop`; does nothing with kNull. `src` and `dst`
  // point to the elements at which the loop begins. They must not overlap, and no destination
  // stride may be 0. One launch.
  //
  // kWrite moves bits: words of up to 16 bytes where strides and addresses allow, and tiles in
  // shared memory for transpositions. kAdd adds in the compute type and rounds once.
  static absl::Status Copy(const KernelContext& c, const StridedLoop& loop, DType dtype,
                           WriteReq req, const void* src, void* dst);

  // Computes dst = or += src for arrays of one size and dtype, which may be the same array: kWrite
  // then does nothing.
  static absl::Status CopyAll(const KernelContext& c, const ArrayView& src, WriteReq req,
                              const ArrayView& dst);

  // Sums elements of `src` into the elements of `dst`, all of which the loop reaches unless it is
  // empty. Where a destination stride is 0, elements are added in the order of the loop, in float
  // for the 16-bit floats, and rounded once. An empty loop with kWrite zeroes `dst`. One launch,
  // with one thread per element of `dst`: a sum of many terms into few elements is slow, and
  // belongs to executor/kernels/reducers.
  static absl::Status Sum(const KernelContext& c, const StridedLoop& loop, WriteReq req,
                          const void* src, const ArrayView& dst);

  // Writes `value`, converted to the dtype of `whole`, to the loop's destinations; `begin` is the
  // offset in elements of the first one in `whole`. Source strides are not read. Overwrites
  // whatever the request of the output is.
  static absl::Status Fill(const KernelContext& c, const StridedLoop& loop, double value,
                           const ArrayView& whole, int64_t begin);

  // Zeroes `dst` with kWrite, before a kernel writes parts of it or sums to it. Does nothing with
  // other requests. A memset, without a launch.
  static absl::Status Zero(const KernelContext& c, WriteReq req, const ArrayView& dst);
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_CUDA_H_
