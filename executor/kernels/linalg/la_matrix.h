#ifndef COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_LA_MATRIX_H_

// Batches of matrices as Eigen sees them, for the kernels of linalg_*. Included by their sources
// alone. Eigen allocates temporaries: these operators, unlike others, use the heap while they run.

#include <cstdint>

#include "Eigen/Dense"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"

namespace cooper {

template <typename T>
using LaMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using LaMap = Eigen::Map<LaMatrix<T>>;

inline int64_t LaRows(const ArrayView& view) { return view.shape[view.shape.rank() - 2]; }
inline int64_t LaColumns(const ArrayView& view) { return view.shape[view.shape.rank() - 1]; }
// Number of matrices in (..., rows, columns).
inline int64_t LaBatch(const ArrayView& view) {
  return view.shape.Product(0, view.shape.rank() - 2);
}

// Matrix number i.
template <typename T>
LaMap<T> LaAt(const ArrayView& view, int64_t i) {
  const int64_t rows = LaRows(view), columns = LaColumns(view);
  return LaMap<T>(view.as<T>() + i * rows * columns, rows, columns);
}

template <typename T, typename Expression>
void LaStore(const Expression& value, WriteReq req, LaMap<T> out) {
  if (req == WriteReq::kWrite) out = value;
  if (req == WriteReq::kAdd) out += value;
}

template <typename T>
void LaStoreNumber(T value, WriteReq req, T* out) {
  if (req == WriteReq::kWrite) *out = value;
  if (req == WriteReq::kAdd) *out += value;
}

// Calls fn(T{0}) with the element type of output 0, one of kFloat32Or64.
template <typename Fn>
absl::Status LaDispatch(const KernelContext& c, const Fn& fn) {
  return c.outputs[0].dtype == DType::kFloat64 ? fn(0.0) : fn(0.0F);
}

// Calls fn(T{0}, i) for each of the matrices of input `of`, up to the first error; not at all if
// the only output is not asked for, or if the first one has no elements, of which Eigen's products
// would take the first.
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
