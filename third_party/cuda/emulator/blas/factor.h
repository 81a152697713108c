#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_FACTOR_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_FACTOR_H_

// Triangular systems and factorizations on the CPU, as BLAS and LAPACK define them: matrices lie in
// columns.

#include <cmath>
#include <cstdint>
#include <utility>

namespace cooper::cuda_emulator {

// A matrix whose columns begin `ld` elements after one another.
template <typename T>
struct Columns {
  T* data = nullptr;
  int64_t ld = 1;
  T& operator()(int64_t row, int64_t column) const { return data[column * ld + row]; }
};

// op(A) of a triangular A (n, n).
template <typename T>
struct Triangle {
  Columns<const T> a;
  int64_t n = 0;
  bool lower = true;
  bool transpose = false;
  bool unit = false;  // ones on the diagonal, which is not read

  bool is_lower() const { return lower != transpose; }
  T operator()(int64_t row, int64_t column) const {
    if (row == column && unit) return T{1};
    return transpose ? a(column, row) : a(row, column);
  }
};

// x becomes the solution of op(A) * x = x, n elements that lie `step` apart.
template <typename T>
void SolveOne(const Triangle<T>& triangle, T* x, int64_t step) {
  for (int64_t done = 0; done < triangle.n; ++done) {
    const int64_t i = triangle.is_lower() ? done : triangle.n - 1 - done;
    T value = x[i * step];
    for (int64_t other = 0; other < done; ++other) {
      const int64_t k = triangle.is_lower() ? other : triangle.n - 1 - other;
      value -= triangle(i, k) * x[k * step];
    }
    x[i * step] = value / triangle(i, i);
  }
}

// B (rows, columns) becomes the X of op(A) * X = alpha * B, or with `right` of X * op(A) = alpha *
// B.
template <typename T>
void SolveTriangular(Triangle<T> triangle, bool right, int64_t rows, int64_t columns, T alpha,
                     Columns<T> b) {
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) b(row, column) *= alpha;
  }
  if (right) {  // op(A)^T * X^T = alpha * B^T
    triangle.transpose = !triangle.transpose;
    for (int64_t row = 0; row < rows; ++row) SolveOne(triangle, &b(row, 0), b.ld);
    return;
  }
  for (int64_t column = 0; column < columns; ++column) SolveOne(triangle, &b(0, column), 1);
}

// LAPACK's getrf of a square matrix: L, whose ones are not written, and U in the place of A, and
// the rows that were exchanged with each, from 1. Returns the first column whose pivot is 0, from
// 1, or 0.
template <typename T>
int FactorLu(int64_t n, Columns<T> a, int* pivots) {
  int info = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t pivot = i;
    for (int64_t row = i + 1; row < n; ++row) {
      if (std::abs(a(row, i)) > std::abs(a(pivot, i))) pivot = row;
    }
    pivots[i] = static_cast<int>(pivot + 1);
    if (a(pivot, i) == T{0}) {
      if (info == 0) info = static_cast<int>(i + 1);
      continue;
    }
    for (int64_t column = 0; pivot != i && column < n; ++column) {
      std::swap(a(i, column), a(pivot, column));
    }
    for (int64_t row = i + 1; row < n; ++row) {
      a(row, i) /= a(i, i);
      for (int64_t column = i + 1; column < n; ++column) a(row, column) -= a(row, i) * a(i, column);
    }
  }
  return info;
}

// LAPACK's getrs: B (n, columns) becomes the X of A * X = B, or of A^T * X = B.
template <typename T>
void SolveLu(bool transpose, int64_t n, int64_t columns, Columns<const T> lu, const int* pivots,
             Columns<T> b) {
  const auto exchange = [&](int64_t i) {
    const int64_t with = pivots[i] - 1;
    for (int64_t column = 0; with != i && column < columns; ++column) {
      std::swap(b(i, column), b(with, column));
    }
  };
  const Triangle<T> lower = {.a = lu, .n = n, .lower = true, .transpose = transpose, .unit = true};
  const Triangle<T> upper = {.a = lu, .n = n, .lower = false, .transpose = transpose};
  if (transpose) {
    SolveTriangular(upper, false, n, columns, T{1}, b);
    SolveTriangular(lower, false, n, columns, T{1}, b);
    for (int64_t i = n - 1; i >= 0; --i) exchange(i);
    return;
  }
  for (int64_t i = 0; i < n; ++i) exchange(i);
  SolveTriangular(lower, false, n, columns, T{1}, b);
  SolveTriangular(upper, false, n, columns, T{1}, b);
}

// LAPACK's potrf: U with A = U^T * U in the upper triangle of A or, with `lower`, L with A = L *
// L^T in the lower one; the other is neither read nor written. Returns the first row, from 1, whose
// pivot is not above 0, where it ends, or 0.
template <typename T>
int FactorCholesky(bool lower, int64_t n, Columns<T> a) {
  const auto at = [&](int64_t row, int64_t column) -> T& {
    return lower ? a(row, column) : a(column, row);
  };
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t row = column; row < n; ++row) {
      for (int64_t k = 0; k < column; ++k) at(row, column) -= at(row, k) * at(column, k);
    }
    if (!(at(column, column) > T{0})) return static_cast<int>(column + 1);
    at(column, column) = std::sqrt(at(column, column));
    for (int64_t row = column + 1; row < n; ++row) at(row, column) /= at(column, column);
  }
  return 0;
}

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_FACTOR_H_
