#ifndef COOPER_EXECUTOR_CUDA_LINALG_TRIANGLE_LINES_H_
#define COOPER_EXECUTOR_CUDA_LINALG_TRIANGLE_LINES_H_

// Triangular matrices that stand before or after others, of which they take the columns or the rows
// one by one. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/launch.h"
#include "executor/kernel.h"
#include "ndarray/shape.h"

namespace cooper {

inline int64_t MatrixRows(const ArrayView& a) { return a.shape[a.shape.rank() - 2]; }
inline int64_t MatrixColumns(const ArrayView& a) { return a.shape[a.shape.rank() - 1]; }
// Number of matrices in (..., rows, columns).
inline int64_t MatrixBatch(const ArrayView& a) { return a.shape.Product(0, a.shape.rank() - 2); }

// The matrices (rows, columns) that a triangle of each batch meets: from the left it multiplies
// their columns, from the right their rows, which are the lines.
struct TriangleLines {
  bool lower, transpose, rightside;
  int64_t batch, rows, columns;

  __host__ __device__ int64_t per_matrix() const { return rightside ? rows : columns; }
  __host__ __device__ int64_t length() const { return rightside ? columns : rows; }
  __device__ int64_t step() const { return rightside ? 1 : columns; }
  // Where line `line` of the batch begins.
  __device__ int64_t First(int64_t line) const {
    const int64_t at = line % per_matrix();
    return line / per_matrix() * rows * columns + (rightside ? at * columns : at);
  }
  // The triangle of that line, of those at `a`.
  template <typename T>
  __device__ const T* TriangleOf(const T* a, int64_t line) const {
    return a + line / per_matrix() * length() * length();
  }
  // Element (i, k) of what multiplies a line taken as a column.
  template <typename T>
  __device__ T At(const T* a, int64_t i, int64_t k) const {
    return transpose != rightside ? a[k * length() + i] : a[i * length() + k];
  }
  __device__ bool IsLower() const { return lower != (transpose != rightside); }
};

// x = the solution for each line of b, which may be x.
template <typename T>
__global__ void SolveLines(const TriangleLines lines, const T* a, const T* b, T* x) {
  const int64_t count = lines.batch * lines.per_matrix(), n = lines.length(), step = lines.step();
  for (int64_t line = FirstElement(); line < count; line += ElementStep()) {
    const T* triangle = lines.TriangleOf(a, line);
    const int64_t first = lines.First(line);
    for (int64_t done = 0; done < n; ++done) {
      const int64_t i = lines.IsLower() ? done : n - 1 - done;
      T value = b[first + i * step];
      for (int64_t other = 0; other < done; ++other) {
        const int64_t k = lines.IsLower() ? other : n - 1 - other;
        value -= lines.At(triangle, i, k) * x[first + k * step];
      }
      x[first + i * step] = value / lines.At(triangle, i, i);
    }
  }
}

template <typename T>
absl::Status LaunchSolve(const KernelContext& c, const TriangleLines& lines, const T* a, const T* b,
                         T* x) {
  return LaunchElements(c, lines.batch * lines.per_matrix(), SolveLines<T>, lines, a, b, x);
}

// Calls fn(T{0}), whose status it returns, with the type of one of kFloat32Or64.
template <typename Fn>
absl::Status DispatchFloat32Or64Gpu(DType dtype, Fn&& fn) {
  return dtype == DType::kFloat64 ? fn(0.0) : fn(0.0F);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_LINALG_TRIANGLE_LINES_H_
