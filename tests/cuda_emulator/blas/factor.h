#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_FACTOR_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_FACTOR_H_

// Solves triangular systems and factors matrices on the CPU, as BLAS and LAPACK define it, with
// column-major matrices.

#include <cmath>
#include <cstdint>
#include <utility>

namespace cooper::cuda_emulator {

// A column-major matrix with leading dimension `ld`. Not owned.
template <typename T>
struct Columns {
  T* data = nullptr;
  int64_t ld = 1;
  T& operator()(int64_t row, int64_t column) const { return data[column * ld + row]; }
};

// op(A) of a triangular matrix A (n, n).
template <typename T>
struct Triangle {
  Columns<const T> a;
  int64_t n = 0;
  bool lower = true;
  bool transpose = false;
  bool unit = false;  // the diagonal is ones and is not read

  bool is_lower() const { return lower != transpose; }
  T operator()(int64_t row, int64_t column) const {
    if (row == column && unit) return T{1};
    return transpose ? a(column, row) : a(row, column);
  }
};

// Solves op(A) * x = b in place: x holds b, n elements that are `step` apart.
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

// Solves op(A) * X = alpha * B, or with `right` X * op(A) = alpha * B. X overwrites B (rows,
// columns).
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

// LAPACK's getrf of a square matrix: L, without its unit diagonal, and U overwrite A. pivots[i] is
// the row, from 1, that was exchanged with row i. Returns the first column, from 1, whose pivot is
// 0; 0 if there is none.
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

// LAPACK's getrs: solves A * X = B, or A^T * X = B. X overwrites B (n, columns).
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

// LAPACK's potrf: U with A = U^T * U overwrites the upper triangle of A or, with `lower`, L with A
// = L * L^T the lower one. The other triangle is neither read nor written. Stops at the first row
// whose pivot is not positive and returns it, from 1; else returns 0.
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

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_FACTOR_H_
