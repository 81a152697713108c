// Compares NumPy's movements and differences with their definitions, at sizes for which kernels use
// tiles and several threads.

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns the output of an operator of one input, which holds the numbers from 0 on.
template <typename T>
std::vector<T> OutputOf(const std::string& op, const AttrMap& attrs, const Shape& shape) {
  std::vector<T> numbers(shape.num_elements());
  std::iota(numbers.begin(), numbers.end(), T{0});
  const NDArray data = *NDArray::FromVector(shape, numbers);
  const Symbol y = *Symbol::Create(op, {.inputs = {Symbol::Variable("data")}, .attrs = attrs});
  const auto executor = *Executor::Bind(y, {.args = {{"data", data}}});
  COOPER_EXPECT_OK(executor->Forward(false));
  return *(*executor->outputs())[0].ToVector<T>();
}

TEST(NumpyMovementTest, Rot90TurnsFromTheFirstAxisTowardsTheSecond) {
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const auto& [rows, columns] : {std::pair{1, 5}, {37, 48}, {64, 32}, {300, 200}}) {
      std::vector<std::vector<float>> turned;
      for (int k = -1; k <= 4; ++k) {
        turned.push_back(
            OutputOf<float>("_npi_rot90", {{"k", std::to_string(k)}}, Shape({rows, columns})));
      }
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          const auto value = static_cast<float>(i * columns + j);
          ASSERT_EQ(turned[0][j * rows + rows - 1 - i], value);                     // k = -1
          ASSERT_EQ(turned[1][i * columns + j], value);                             // 0
          ASSERT_EQ(turned[2][(columns - 1 - j) * rows + i], value);                // 1
          ASSERT_EQ(turned[3][(rows - 1 - i) * columns + columns - 1 - j], value);  // 2
        }
      }
      EXPECT_EQ(turned[4], turned[0]);  // three turns are one back
      EXPECT_EQ(turned[5], turned[1]);
    }
  }
  SetNumThreads(0);
}

TEST(NumpyMovementTest, Rot90LeavesOtherAxes) {
  const std::vector<float> turned =
      OutputOf<float>("_npi_rot90", {{"axes", "(2, 0)"}}, Shape({20, 3, 40}));
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 40; ++k) {
        ASSERT_EQ(turned[(k * 3 + j) * 20 + 19 - i], static_cast<float>((i * 3 + j) * 40 + k));
      }
    }
  }
}

TEST(NumpyMovementTest, DifferencesWrapAround) {
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    EXPECT_EQ(OutputOf<uint8_t>("_npi_diff", {}, Shape({3, 100})), std::vector<uint8_t>(3 * 99, 1));
    // 0 to 255, then 0 again.
    EXPECT_EQ(OutputOf<uint8_t>("_npi_diff", {}, Shape({40000})), std::vector<uint8_t>(39999, 1));
    EXPECT_EQ(OutputOf<int64_t>("_npi_diff", {{"axis", "0"}}, Shape({70, 1000})),
              std::vector<int64_t>(69 * 1000, 1000));
    EXPECT_EQ(OutputOf<int64_t>("_npi_diff", {{"n", "2"}, {"axis", "1"}}, Shape({5, 7, 900})),
              std::vector<int64_t>(5 * 5 * 900, 0));
  }
  SetNumThreads(0);
}

}  // namespace
}  // namespace cooper
