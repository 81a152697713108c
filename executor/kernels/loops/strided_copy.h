#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_COPY_H_

// Copies elements between two arrays with different strides, for transposing, slicing,
// concatenating, repeating and their gradients, on the CPU. strided_copy_cuda.h is for the GPU. The
// shape operators (executor/kernels/shape) are templates over CpuMover and CudaMover, so each is
// written once for both devices. Allocates nothing. All functions are thread-safe.
//
//   StridedLoop loop;                    // transposes (rows, columns)
//   loop.Add(columns, 1, rows);
//   loop.Add(rows, columns, 1);
//   return StridedCopy(loop, DType::kFloat32, WriteReq::kWrite, x, y);

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"

namespace cooper {

// Computes dst = or += src for every element of `loop`; does nothing with kNull. `src` and `dst`
// point to the elements at which the loop begins. They must not overlap. With kAdd a destination
// stride may be 0: the elements are then summed in the order of the loop. Uses several threads, but
// one for a loop with a destination stride of 0.
//
// kWrite moves bits; kAdd computes each addition in the compute type and rounds it to `dtype`, so a
// long sum of 16-bit floats loses precision, and integers wrap around. Transpositions go by tiles
// of 16 rows, so that both arrays are read and written in whole cache lines.
//
// Errors: kUnimplemented if the loop is too deep.
absl::Status StridedCopy(const StridedLoop& loop, DType dtype, WriteReq req, const void* src,
                         void* dst);

// Computes dst = or += src for arrays of one size and dtype, which may be the same array: kWrite
// then does nothing, and kAdd doubles it. Returns OK always.
absl::Status CopyElements(const ArrayView& src, WriteReq req, const ArrayView& dst);

// Zeroes `dst` with kWrite, before a kernel writes parts of it or sums to it. Does nothing with
// other requests. Runs on the calling thread.
void ZeroIfWrite(WriteReq req, const ArrayView& dst);

// Returns the request for writing to an output after ZeroIfWrite: kAdd unless it is kNull. A kernel
// that sums several terms into an output calls ZeroIfWrite once and adds each term by this request.
inline WriteReq AddUnlessNull(WriteReq req) {
  return req == WriteReq::kNull ? WriteReq::kNull : WriteReq::kAdd;
}

// The CPU as the Device of the kernels in executor/kernels/shape. strided_copy_cuda.h has the
// contracts. Pointers are host pointers, the work is done when a function returns, and the context
// is not read.
struct CpuMover {
  static absl::Status Copy(const KernelContext&, const StridedLoop& loop, DType dtype, WriteReq req,
                           const void* src, void* dst) {
    return StridedCopy(loop, dtype, req, src, dst);
  }
  static absl::Status CopyAll(const KernelContext&, const ArrayView& src, WriteReq req,
                              const ArrayView& dst) {
    return CopyElements(src, req, dst);
  }
  // Adds with the rounding of StridedCopy: 16-bit floats are rounded after each addition, unlike
  // CudaMover's.
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
