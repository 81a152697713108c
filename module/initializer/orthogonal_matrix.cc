#include "module/initializer/orthogonal_matrix.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cooper {
namespace {

double Dot(const double* a, const double* b, int64_t n) {
  double lanes[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int lane = 0; lane < 4; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < n; ++i) lanes[0] += a[i] * b[i];
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

}  // namespace

void Orthonormalize(int64_t rows, absl::Span<float> matrix) {
  if (matrix.empty()) return;
  const int64_t columns = static_cast<int64_t>(matrix.size()) / rows;
  const bool by_row = rows <= columns;
  const int64_t count = std::min(rows, columns);
  const int64_t length = std::max(rows, columns);
  const auto at = [&](int64_t vector, int64_t i) -> float& {
    return matrix[by_row ? vector * columns + i : i * columns + vector];
  };

  std::vector<double> vectors(matrix.size());
  for (int64_t v = 0; v < count; ++v) {
    for (int64_t i = 0; i < length; ++i) vectors[v * length + i] = at(v, i);
  }
  // Gram-Schmidt; the second pass removes the rounding errors of the first.
  for (int64_t v = 0; v < count; ++v) {
    double* const x = &vectors[v * length];
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t u = 0; u < v; ++u) {
        const double* const y = &vectors[u * length];
        const double projection = Dot(x, y, length);
        for (int64_t i = 0; i < length; ++i) x[i] -= projection * y[i];
      }
    }
    const double norm = std::sqrt(Dot(x, x, length));
    for (int64_t i = 0; i < length; ++i) x[i] /= norm;
  }
  for (int64_t v = 0; v < count; ++v) {
    for (int64_t i = 0; i < length; ++i) at(v, i) = static_cast<float>(vectors[v * length + i]);
  }
}

}  // namespace cooper
