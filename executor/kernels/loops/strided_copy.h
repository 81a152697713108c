#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_

// Copies elements between two arrays that are walked with strides of their own: what transposing,
// slicing, concatenating, repeating and their gradients come down to. Nothing is allocated.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"

namespace cooper {

// dst = src, or dst += src with kAdd, for every element of `loop`; kNull does nothing. `src` and
// `dst` are the elements at which the loop begins; the two must not overlap. With kAdd a
// destination stride may be 0: the elements are then summed, in the order of the loop.
//
// kUnimplemented if the loop is too deep.
absl::Status StridedCopy(const StridedLoop& loop, DType dtype, WriteReq req, const void* src,
                         void* dst);

// dst = src or dst += src for arrays of one size and dtype, which may be the same array.
absl::Status CopyElements(const ArrayView& src, WriteReq req, const ArrayView& dst);

// Zeroes what kWrite is about to write parts of, or sums of. Nothing for other requests.
void ZeroIfWrite(WriteReq req, const ArrayView& dst);

// What a kernel does for an output of which it has written parts: adding, since ZeroIfWrite came
// first, except that kNull stays.
inline WriteReq AddUnlessNull(WriteReq req) {
  return req == WriteReq::kNull ? WriteReq::kNull : WriteReq::kAdd;
}

// The CPU as the Device of the kernels in executor/kernels/shape.
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
