#include "module/initializer/orthogonal_matrix.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

TEST(OrthonormalizeTest, MakesTheShorterSideOrthonormal) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{5, 9}, {9, 5}, {6, 6}, {1, 7}, {7, 1}, {1, 1}}) {
    RandomGenerator random(rows * 100 + columns);
    std::vector<float> matrix(static_cast<size_t>(rows * columns));
    for (float& x : matrix) x = static_cast<float>(random.NextNormal());
    Orthonormalize(rows, absl::MakeSpan(matrix));

    const bool by_row = rows <= columns;
    const int64_t count = by_row ? rows : columns;
    const int64_t length = by_row ? columns : rows;
    for (int64_t a = 0; a < count; ++a) {
      for (int64_t b = 0; b < count; ++b) {
        double dot = 0;
        for (int64_t i = 0; i < length; ++i) {
          dot += by_row ? matrix[a * columns + i] * matrix[b * columns + i]
                        : matrix[i * columns + a] * matrix[i * columns + b];
        }
        EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-6) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace cooper
