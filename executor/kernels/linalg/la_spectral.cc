// Kernels of _linalg_gelqf, _linalg_syevd and their gradients, for CPUs. They compute in double, a
// matrix on one thread.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// The extents of a batch of matrices (..., m, n).
struct Batch {
  int64_t count, m, n;

  explicit Batch(const Shape& shape)
      : count(shape.Product(0, shape.rank() - 2)),
        m(shape[shape.rank() - 2]),
        n(shape[shape.rank() - 1]) {}
};

double Dot(int64_t n, const double* a, const double* b) {
  return LaneSum<double>(n, [=](int64_t i) { return a[i] * b[i]; });
}
// Computes b += factor * a.
void AddTo(int64_t n, double factor, const double* a, double* b) {
  for (int64_t i = 0; i < n; ++i) b[i] += factor * a[i];
}
// Computes b += the sum over k < count of factors[k * stride] * row k of a (count, n), of which
// rows are a_stride apart, in the order of k. Four rows at a time share the reads and writes of b.
void AddRows(int64_t n, int64_t count, const double* factors, int64_t stride, const double* a,
             int64_t a_stride, double* b) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double* const f = factors + k * stride;
    const double f0 = f[0], f1 = f[stride], f2 = f[2 * stride], f3 = f[3 * stride];
    const double* const row = a + k * a_stride;
    for (int64_t i = 0; i < n; ++i) {
      b[i] = b[i] + f0 * row[i] + f1 * row[a_stride + i] + f2 * row[2 * a_stride + i] +
             f3 * row[3 * a_stride + i];
    }
  }
  for (; k < count; ++k) AddTo(n, factors[k * stride], a + k * a_stride, b);
}

// Makes a Householder reflection I - tau v v^T that maps x (n,), n > 0, to (beta, 0, ..., 0). x
// becomes v, whose first element is 1.
struct Reflection {
  double beta, tau = 0;

  Reflection(int64_t n, double* x) : beta(x[0]) {
    const double alpha = x[0], tail = Dot(n - 1, x + 1, x + 1);
    if (tail > 0) {
      beta = -std::copysign(std::sqrt(alpha * alpha + tail), alpha);
      tau = (beta - alpha) / beta;
      for (int64_t k = 1; k < n; ++k) x[k] /= alpha - beta;
    }
    x[0] = 1;
  }
};

// Computes the first `rows` rows of the product of reflections ... H1 H0, of which the vector of Hi
// is the end of row i of v (.., n) from element i + shift on, into q (rows, n).
void MultiplyReflections(int64_t rows, int64_t n, int64_t count, int64_t shift, const double* v,
                         const double* taus, double* q) {
  std::fill_n(q, rows * n, 0.0);
  for (int64_t i = 0; i < rows; ++i) q[i * n + i] = 1;
  for (int64_t i = count - 1; i >= 0; --i) {
    const int64_t first = i + shift;
    for (int64_t row = first; row < rows; ++row) {
      double* const x = q + row * n + first;
      AddTo(n - first, -taus[i] * Dot(n - first, x, v + i * n + first), v + i * n + first, x);
    }
  }
}

// Factorizes `a` (m, n), which becomes reflectors, into q (m, n) and l (m, m), by Householder's
// reflections of rows, with LAPACK's signs. `taus` has room for m numbers.
void FactorizeLq(int64_t m, int64_t n, double* a, double* taus, double* q, double* l) {
  std::fill_n(l, m * m, 0.0);
  for (int64_t i = 0; i < m; ++i) {
    double* const v = a + i * n + i;
    const int64_t size = n - i;
    std::copy_n(a + i * n, i, l + i * m);
    const Reflection reflection(size, v);
    l[i * m + i] = reflection.beta;
    taus[i] = reflection.tau;
    for (int64_t row = i + 1; row < m; ++row) {
      double* const x = a + row * n + i;
      AddTo(size, -taus[i] * Dot(size, x, v), v, x);
    }
  }
  MultiplyReflections(m, n, m, /*shift=*/0, a, taus, q);
}

// Computes the gradient of A from those of Q and L, which become scratch memory, `dq` the result:
//
//   M = L^T dL - dQ Q^T,  dA = L^-T (dQ + S Q)
//
// where the symmetric S has M's lower triangle.
void LqGradient(int64_t m, int64_t n, const double* q, const double* l, const double* dl, double* s,
                double* dq) {
  for (int64_t i = 0; i < m; ++i) {
    double* const row = s + i * m;
    for (int64_t j = 0; j <= i; ++j) row[j] = -Dot(n, dq + i * n, q + j * n);
    AddRows(i + 1, m - i, l + i * m + i, m, dl + i * m, m, row);
    for (int64_t j = 0; j < i; ++j) s[j * m + i] = row[j];
  }
  for (int64_t i = 0; i < m; ++i) AddRows(n, m, s + i * m, 1, q, n, dq + i * n);
  // Computes the negative of each row, which is a sum of rows.
  for (int64_t i = m - 1; i >= 0; --i) {
    double* const row = dq + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = -row[j];
    AddRows(n, m - i - 1, l + (i + 1) * m + i, m, dq + (i + 1) * n, n, row);
    for (int64_t j = 0; j < n; ++j) row[j] /= -l[i * m + i];
  }
}

// Reduces the symmetric `a` (n, n), of which the lower triangle counts, to a tridiagonal matrix by
// reflections: u a u^T has the diagonal l and beside it e, both (n,). `a` becomes reflectors, `w`
// is scratch memory (n,). A null `u` is not computed.
void Tridiagonalize(int64_t n, double* a, double* u, double* l, double* e, double* taus,
                    double* w) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  }
  std::fill_n(e, n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    l[i] = a[i * n + i];
    const int64_t first = i + 1, size = n - first;
    if (size == 0) break;
    double* const v = a + i * n + first;
    const Reflection reflection(size, v);
    e[i] = reflection.beta;
    taus[i] = reflection.tau;
    // The rest becomes H R H = R - v w^T - w v^T, where w = tau R v - tau^2 (v^T R v) / 2 v.
    for (int64_t k = 0; k < size; ++k) w[k] = taus[i] * Dot(size, a + (first + k) * n + first, v);
    AddTo(size, -taus[i] * Dot(size, w, v) / 2, v, w);
    for (int64_t k = 0; k < size; ++k) {
      double* const row = a + (first + k) * n + first;
      const double of_v = v[k], of_w = w[k];
      for (int64_t j = 0; j < size; ++j) row[j] -= of_v * w[j] + of_w * v[j];
    }
  }
  if (u != nullptr) MultiplyReflections(n, n, n - 1, /*shift=*/1, a, taus, u);
}

// Multiplies the elements of `a` by a power of two with which the greatest is about 1, so that no
// sum of squares overflows. Returns its inverse.
double Normalize(int64_t size, double* a) {
  constexpr int kLeastExponent = -1000;
  double greatest = 0;
  for (int64_t i = 0; i < size; ++i) greatest = std::max(greatest, std::fabs(a[i]));
  if (greatest == 0 || !std::isfinite(greatest)) return 1;
  const int exponent = std::max(std::ilogb(greatest), kLeastExponent);
  const double factor = std::scalbn(1.0, -exponent);
  for (int64_t i = 0; i < size; ++i) a[i] *= factor;
  return std::scalbn(1.0, exponent);
}

// Returns the root of f^2 + g^2 for numbers of at most about 1. std::hypot takes longer than the
// rest of a rotation; squares that may underflow need it.
double Radius(double f, double g) {
  constexpr double kLeast = 1e-280;
  const double square = f * f + g * g;
  return square > kLeast ? std::sqrt(square) : std::hypot(f, g);
}

// Diagonalizes the tridiagonal matrix with the diagonal l (n,) and e beside it by implicit QL
// steps: l becomes the eigenvalues, and the rows of u (n, n), which are combined, their
// eigenvectors. `u` may be null.
void DiagonalizeTridiagonal(int64_t n, double* l, double* e, double* u) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  constexpr int kMaxSteps = 60;  // for an eigenvalue; two suffice on average
  for (int64_t first = 0; first < n; ++first) {
    for (int step = 0; step < kMaxSteps; ++step) {
      int64_t last = first;
      while (last + 1 < n &&
             std::fabs(e[last]) > kEpsilon * (std::fabs(l[last]) + std::fabs(l[last + 1]))) {
        ++last;
      }
      if (last == first) break;
      const double ratio = (l[first + 1] - l[first]) / (2 * e[first]);
      double g =
          l[last] - l[first] + e[first] / (ratio + std::copysign(std::hypot(ratio, 1.0), ratio));
      double sine = 1, cosine = 1, p = 0;
      int64_t i = last - 1;
      for (; i >= first; --i) {
        const double f = sine * e[i], b = cosine * e[i];
        const double radius = Radius(f, g);
        e[i + 1] = radius;
        if (radius == 0) break;
        sine = f / radius;
        cosine = g / radius;
        g = l[i + 1] - p;
        const double r = (l[i] - g) * sine + 2 * cosine * b;
        p = sine * r;
        l[i + 1] = g + p;
        g = cosine * r - b;
        if (u == nullptr) continue;
        double *const x = u + i * n, *const y = x + n;
        for (int64_t k = 0; k < n; ++k) {
          const double upper = x[k], lower = y[k];
          x[k] = cosine * upper - sine * lower;
          y[k] = sine * upper + cosine * lower;
        }
      }
      if (i >= first) {  // the matrix has split
        l[i + 1] -= p;
      } else {
        l[first] -= p;
        e[first] = g;
      }
      e[last] = 0;
    }
  }
}

// Sorts the eigenvalues `l` and with them the rows of u (n, n), and gives each row the sign with
// which its greatest element is positive. `u` may be null.
void SortEigenvalues(int64_t n, double* u, double* l) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t least = std::min_element(l + i, l + n) - l;
    std::swap(l[i], l[least]);
    if (u == nullptr) continue;
    if (least != i) std::swap_ranges(u + i * n, u + (i + 1) * n, u + least * n);
    double* const row = u + i * n;
    const double greatest = *std::max_element(
        row, row + n, [](double x, double y) { return std::fabs(x) < std::fabs(y); });
    if (greatest >= 0) continue;
    for (int64_t k = 0; k < n; ++k) row[k] = -row[k];
  }
}

// Computes the gradient of A: U^T Y U, where Y has dL on its diagonal, and below and above it the
// antisymmetric part of X = dU U^T over differences of eigenvalues, at least `gap`. `x` and `y` are
// scratch memory (n, n) each; `du` becomes the result.
void EigenGradient(int64_t n, const double* u, const double* l, const double* dl, double gap,
                   double* x, double* y, double* du) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) x[i * n + j] = Dot(n, du + i * n, u + j * n);
  }
  for (int64_t i = 0; i < n; ++i) {
    y[i * n + i] = dl[i];
    for (int64_t j = 0; j < i; ++j) {
      const double difference = std::max(l[i] - l[j], gap);
      y[i * n + j] = y[j * n + i] = (x[i * n + j] - x[j * n + i]) / (2 * difference);
    }
  }
  std::fill_n(x, n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) AddRows(n, n, y + i * n, 1, u, n, x + i * n);
  std::fill_n(du, n * n, 0.0);
  for (int64_t j = 0; j < n; ++j) AddRows(n, n, u + j, n, x, n, du + j * n);
}

// Read and write matrix `i`, of `size` elements: the arithmetic is compiled once for both dtypes.
void LoadMatrix(const ArrayView& array, int64_t size, int64_t i, double* to) {
  LoadBlock(ElementAt(array.data, array.dtype, i * size), array.dtype, size, to);
}
void StoreMatrix(const double* from, int64_t size, int64_t i, WriteReq req,
                 const ArrayView& array) {
  if (req == WriteReq::kNull) return;
  StoreBlock(from, size, req, ElementAt(array.data, array.dtype, i * size), array.dtype);
}

// Calls fn(matrix, its part of the workspace, of `doubles` numbers) for each matrix.
template <typename Fn>
absl::Status ForEachMatrix(const KernelContext& c, const Batch& batch, int64_t doubles, Fn fn) {
  auto* const workspace = static_cast<double*>(c.workspace);
  const int64_t work = batch.m * batch.m * batch.n;
  ParallelFor(batch.count, RowGrain(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i, workspace + i * doubles);
  });
  return absl::OkStatus();
}

absl::StatusOr<Prepared> PrepareDoubles(const Batch& batch, int64_t doubles) {
  return Prepared{.workspace_bytes = batch.count * doubles * static_cast<int64_t>(sizeof(double))};
}

int64_t GelqfDoubles(const Batch& b) { return 2 * b.m * b.n + b.m * b.m + b.m; }
absl::StatusOr<Prepared> PrepareGelqf(const PrepareContext& c) {
  const Batch batch(c.inputs[0].shape);
  return PrepareDoubles(batch, GelqfDoubles(batch));
}
absl::Status GelqfCpu(const KernelContext& c) {
  const Batch b(c.inputs[0].shape);
  return ForEachMatrix(c, b, GelqfDoubles(b), [&](int64_t i, double* scratch) {
    double* const q = scratch + b.m * b.n;
    double* const l = q + b.m * b.n;
    LoadMatrix(c.inputs[0], b.m * b.n, i, scratch);
    FactorizeLq(b.m, b.n, scratch, /*taus=*/l + b.m * b.m, q, l);
    StoreMatrix(q, b.m * b.n, i, c.reqs[0], c.outputs[0]);
    StoreMatrix(l, b.m * b.m, i, c.reqs[1], c.outputs[1]);
  });
}

// Inputs of both gradients: those of the two outputs, then the outputs.
struct SpectralGradientArrays {
  enum Input { kFirstOgrad, kSecondOgrad, kFirst, kSecond };
};

int64_t GelqfGradientDoubles(const Batch& b) { return 2 * b.m * b.n + 3 * b.m * b.m; }
absl::StatusOr<Prepared> PrepareGelqfGradient(const PrepareContext& c) {
  const Batch batch(c.outputs[0].shape);
  return PrepareDoubles(batch, GelqfGradientDoubles(batch));
}
absl::Status GelqfGradientCpu(const KernelContext& c) {
  using enum SpectralGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Batch b(c.outputs[0].shape);
  return ForEachMatrix(c, b, GelqfGradientDoubles(b), [&](int64_t i, double* dq) {
    double* const q = dq + b.m * b.n;
    double* const l = q + b.m * b.n;
    double* const dl = l + b.m * b.m;
    LoadMatrix(c.inputs[kFirstOgrad], b.m * b.n, i, dq);
    LoadMatrix(c.inputs[kFirst], b.m * b.n, i, q);
    LoadMatrix(c.inputs[kSecond], b.m * b.m, i, l);
    LoadMatrix(c.inputs[kSecondOgrad], b.m * b.m, i, dl);
    LqGradient(b.m, b.n, q, l, dl, /*s=*/dl + b.m * b.m, dq);
    StoreMatrix(dq, b.m * b.n, i, c.reqs[0], c.outputs[0]);
  });
}

int64_t SyevdDoubles(const Batch& b) { return 2 * b.n * b.n + 4 * b.n; }
absl::StatusOr<Prepared> PrepareSyevd(const PrepareContext& c) {
  const Batch batch(c.inputs[0].shape);
  return PrepareDoubles(batch, SyevdDoubles(batch));
}
absl::Status SyevdCpu(const KernelContext& c) {
  const Batch b(c.inputs[0].shape);
  // Skips the eigenvectors, which take a quarter of the time, if nothing reads them.
  const bool vectors = c.reqs[0] != WriteReq::kNull;
  return ForEachMatrix(c, b, SyevdDoubles(b), [&](int64_t i, double* a) {
    double* const u = vectors ? a + b.n * b.n : nullptr;
    double* const l = a + 2 * b.n * b.n;
    double* const e = l + b.n;
    LoadMatrix(c.inputs[0], b.n * b.n, i, a);
    const double scale = Normalize(b.n * b.n, a);
    Tridiagonalize(b.n, a, u, l, e, /*taus=*/e + b.n, /*w=*/e + 2 * b.n);
    DiagonalizeTridiagonal(b.n, l, e, u);
    for (int64_t k = 0; k < b.n; ++k) l[k] *= scale;
    SortEigenvalues(b.n, u, l);
    StoreMatrix(u, b.n * b.n, i, c.reqs[0], c.outputs[0]);
    StoreMatrix(l, b.n, i, c.reqs[1], c.outputs[1]);
  });
}

int64_t SyevdGradientDoubles(const Batch& b) { return 4 * b.n * b.n + 2 * b.n; }
absl::StatusOr<Prepared> PrepareSyevdGradient(const PrepareContext& c) {
  const Batch batch(c.outputs[0].shape);
  return PrepareDoubles(batch, SyevdGradientDoubles(batch));
}
absl::Status SyevdGradientCpu(const KernelContext& c) {
  using enum SpectralGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Batch b(c.outputs[0].shape);
  return ForEachMatrix(c, b, SyevdGradientDoubles(b), [&](int64_t i, double* du) {
    // The least difference of two eigenvalues is MXNet's.
    const double gap = c.outputs[0].dtype == DType::kFloat32 ? 1e-30 : 1e-100;
    double* const u = du + b.n * b.n;
    double* const x = u + b.n * b.n;
    double* const y = x + b.n * b.n;
    double* const l = y + b.n * b.n;
    double* const dl = l + b.n;
    LoadMatrix(c.inputs[kFirstOgrad], b.n * b.n, i, du);
    LoadMatrix(c.inputs[kFirst], b.n * b.n, i, u);
    LoadMatrix(c.inputs[kSecond], b.n, i, l);
    LoadMatrix(c.inputs[kSecondOgrad], b.n, i, dl);
    EigenGradient(b.n, u, l, dl, gap, x, y, du);
    StoreMatrix(du, b.n * b.n, i, c.reqs[0], c.outputs[0]);
  });
}

COOPER_REGISTER_KERNEL(_linalg_gelqf, DeviceType::kCpu, kFloat32Or64, GelqfCpu, PrepareGelqf);
COOPER_REGISTER_KERNEL(_backward_linalg_gelqf, DeviceType::kCpu, kFloat32Or64, GelqfGradientCpu,
                       PrepareGelqfGradient);
COOPER_REGISTER_KERNEL(_linalg_syevd, DeviceType::kCpu, kFloat32Or64, SyevdCpu, PrepareSyevd);
COOPER_REGISTER_KERNEL(_backward_linalg_syevd, DeviceType::kCpu, kFloat32Or64, SyevdGradientCpu,
                       PrepareSyevdGradient);

}  // namespace
}  // namespace cooper
