#ifndef COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_

// Batches of matrices for the CPU kernels of linalg_*. Matrices are the last two axes of an array,
// row-major; T is float or double. la_eigen.inc has them as Eigen's; squares.h and dense_solver.h
// have the counterparts for GPUs.
//
//   return LaForMatrices(c, kA, [&c](auto zero) {
//     using T = decltype(zero);
//     return [&c, twice = LaMatrix<T>()](int64_t i) mutable {
//       twice = LaAt<T>(c.inputs[kA], i) * T{2};
//       LaStore<T>(twice, c.reqs[0], LaAt<T>(c.outputs[0], i));
//       return absl::OkStatus();
//     };
//   });

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "executor/kernels/launch/product_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Return the extents of the matrices of an array (..., rows, columns).
inline int64_t LaRows(const ArrayView& view) { return view.shape[view.shape.rank() - 2]; }
inline int64_t LaColumns(const ArrayView& view) { return view.shape[view.shape.rank() - 1]; }
// Returns the number of matrices in an array (..., rows, columns).
inline int64_t LaBatch(const ArrayView& view) {
  return view.shape.Product(0, view.shape.rank() - 2);
}

// Computes *out = or += value, as `req` says; does nothing with kNull.
template <typename T>
void LaStoreNumber(T value, WriteReq req, T* out) {
  if (req == WriteReq::kWrite) *out = value;
  if (req == WriteReq::kAdd) *out += value;
}

// Calls fn(T{0}) with the element type of output 0, one of kFloat32Or64, and returns its status.
template <typename Fn>
absl::Status LaDispatch(const KernelContext& c, const Fn& fn) {
  return c.outputs[0].dtype == DType::kFloat64 ? fn(0.0) : fn(0.0F);
}

// Calls run(i) for each matrix of input `of`, on several threads if there are enough of them for
// their size, and returns the error of the first matrix that has one: outputs of the others are
// written. make(T{0}) returns `run`, once for each range of matrices that one thread computes; it
// owns the temporaries of the range. A matrix is computed by one thread, so results do not depend
// on NumThreads(). Does nothing if the only output is not requested, or if the first output has no
// elements: Eigen's products would access the first one.
template <typename Make>
absl::Status LaForMatrices(const KernelContext& c, int of, const Make& make) {
  if (c.reqs[0] == WriteReq::kNull && c.reqs.size() == 1) return absl::OkStatus();
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  const int64_t count = LaBatch(c.inputs[of]), n = LaRows(c.inputs[of]);
  return LaDispatch(c, [&](auto zero) {
    std::vector<absl::Status> statuses(count);
    ParallelForPlain(count, ProductGrain(count, n * n * n / 3), [&](int64_t begin, int64_t end) {
      auto run = make(zero);
      for (int64_t i = begin; i < end; ++i) statuses[i] = run(i);
    });
    for (const absl::Status& status : statuses) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_
