#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_

// Copies elements between two arrays with different strides, for transposing, slicing,
// concatenating, repeating and their gradients. Allocates nothing.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"

namespace cooper {

// Computes dst = or += src for every element of `loop`; does nothing with kNull. `src` and `dst`
// point to the elements at which the loop begins. They must not overlap. With kAdd a destination
// stride may be 0: the elements are then summed in the order of the loop. Uses several threads.
//
// Errors: kUnimplemented if the loop is too deep.
absl::Status StridedCopy(const StridedLoop& loop, DType dtype, WriteReq req, const void* src,
                         void* dst);

// Computes dst = or += src for arrays of one size and dtype, which may be the same array.
absl::Status CopyElements(const ArrayView& src, WriteReq req, const ArrayView& dst);

// Zeroes `dst` with kWrite, before a kernel writes parts of it or sums to it. Does nothing with
// other requests.
void ZeroIfWrite(WriteReq req, const ArrayView& dst);

// Returns the request for writing to an output after ZeroIfWrite: kAdd unless it is kNull.
inline WriteReq AddUnlessNull(WriteReq req) {
  return req == WriteReq::kNull ? WriteReq::kNull : WriteReq::kAdd;
}

// The CPU as the Device of the kernels in executor/kernels/shape. strided_copy_cuda.h has the
// contracts.
struct CpuMover {
  static absl::Status Copy(const KernelContext&, const StridedLoop& loop, DType dtype, WriteReq req,
                           const void* src, void* dst) {
    return StridedCopy(loop, dtype, req, src, dst);
  }
  static absl::Status CopyAll(const KernelContext&, const ArrayView& src, WriteReq req,
                              const ArrayView& dst) {
    return CopyElements(src, req, dst);
  }
  static absl::Status Sum(const KernelContext&, const StridedLoop& loop, WriteReq req,
                          const void* src, const ArrayView& dst) {
    ZeroIfWrite(req, dst);
    return StridedCopy(loop, dst.dtype, AddUnlessNull(req), src, dst.data);
  }
  static absl::Status Fill(const KernelContext& c, const StridedLoop& loop, double value,
                           const ArrayView& whole, int64_t begin);
  static absl::Status Zero(const KernelContext&, WriteReq req, const ArrayView& dst) {
    ZeroIfWrite(req, dst);
    return absl::OkStatus();
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_
