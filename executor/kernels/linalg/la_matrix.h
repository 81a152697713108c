#ifndef COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_

// Views of batches of matrices as Eigen's, for the CPU kernels of linalg_*. Eigen allocates
// temporaries, so these operators, unlike others, use the heap while they run. Matrices are the
// last two axes of an array, row-major; T is float or double. squares.h and dense_solver.h have the
// counterparts for GPUs. All functions run on the calling thread.
//
//   return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
//     using T = decltype(zero);
//     LaStore<T>(LaAt<T>(c.inputs[kA], i) * T{2}, c.reqs[0], LaAt<T>(c.outputs[0], i));
//     return absl::OkStatus();
//   });

#include <cstdint>

#include "Eigen/Dense"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"

namespace cooper {

// A matrix that owns its elements, and a view of a matrix within an array.
template <typename T>
using LaMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using LaMap = Eigen::Map<LaMatrix<T>>;

// Return the extents of the matrices of an array (..., rows, columns).
inline int64_t LaRows(const ArrayView& view) { return view.shape[view.shape.rank() - 2]; }
inline int64_t LaColumns(const ArrayView& view) { return view.shape[view.shape.rank() - 1]; }
// Returns the number of matrices in an array (..., rows, columns).
inline int64_t LaBatch(const ArrayView& view) {
  return view.shape.Product(0, view.shape.rank() - 2);
}

// Returns a view of matrix i, from 0 to LaBatch() - 1. The view is writable, also for an input; the
// caller writes to outputs only. T must be the type of the array's dtype.
template <typename T>
LaMap<T> LaAt(const ArrayView& view, int64_t i) {
  const int64_t rows = LaRows(view), columns = LaColumns(view);
  return LaMap<T>(view.as<T>() + i * rows * columns, rows, columns);
}

// Computes out = or += value, as `req` says; does nothing with kNull. `value` is an Eigen
// expression of out's extents. It is evaluated into `out` directly, so an expression that reads
// `out`, as an input that shares its memory, must be evaluated to an LaMatrix first.
template <typename T, typename Expression>
void LaStore(const Expression& value, WriteReq req, LaMap<T> out) {
  if (req == WriteReq::kWrite) out = value;
  if (req == WriteReq::kAdd) out += value;
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

// Calls fn(T{0}, i) for each matrix of input `of`, in order, up to the first error, which it
// returns: outputs of earlier matrices have been written by then. Does nothing if the only output
// is not requested, or if the first output has no elements: Eigen's products would access the first
// one.
template <typename Fn>
absl::Status LaForMatrices(const KernelContext& c, int of, const Fn& fn) {
  if (c.reqs[0] == WriteReq::kNull && c.reqs.size() == 1) return absl::OkStatus();
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  return LaDispatch(c, [&](auto zero) {
    for (int64_t i = 0; i < LaBatch(c.inputs[of]); ++i) {
      if (absl::Status status = fn(zero, i); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_
