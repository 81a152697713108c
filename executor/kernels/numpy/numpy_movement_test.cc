// Compares NumPy's movements, differences and counts with their definitions, at sizes for which
// kernels use tiles, blocks and several threads.

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(NumpyMovementTest, TrilTakesDiagonalsFarOutsideOfTheMatrix) {
  const Shape shape({2, 3});
  EXPECT_THAT(OutputOf<float>("_npi_tril", {{"k", "9223372036854775807"}}, shape),
              ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(OutputOf<float>("_npi_tril", {{"k", "0"}}, shape), ElementsAre(0, 0, 0, 3, 4, 0));
  EXPECT_THAT(OutputOf<float>("_npi_tril", {{"k", "-9223372036854775808"}}, shape), Each(0));
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

// The arrays (outer, extent, inner) of the tests below, of which axis 1 has the differences.
const Shape kRows[] = {Shape({3, 20000, 1}), Shape({1, 40, 1000}), Shape({7, 2, 5000}),
                       Shape({5, 90, 101})};

TEST(NumpyMovementTest, DifferencesOfNeighbours) {
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const Shape& shape : kRows) {
      std::vector<int32_t> x(shape.num_elements());
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * i % 1009);
      const NDArray data = *NDArray::FromVector(shape, x);
      const Symbol y = *Symbol::Create(
          "_npi_diff", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
      const auto executor = *Executor::Bind(y, {.args = {{"data", data}}});
      COOPER_ASSERT_OK(executor->Forward(false));
      const std::vector<int32_t> out = *(*executor->outputs())[0].ToVector<int32_t>();
      for (int64_t i = 0, at = 0; i < shape[0]; ++i) {
        for (int64_t j = 0; j + 1 < shape[1]; ++j) {
          for (int64_t k = 0; k < shape[2]; ++k, ++at) {
            const int64_t from = (i * shape[1] + j) * shape[2] + k;
            ASSERT_EQ(out[at], x[from + shape[2]] - x[from]) << shape.ToString() << " at " << at;
          }
        }
      }
    }
  }
  SetNumThreads(0);
}

TEST(NumpyMovementTest, GradientOfDifferences) {
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const Shape& shape : kRows) {
      const NDArray data = *NDArray::Zeros(shape, DType::kFloat32);
      const Symbol y = *Symbol::Create(
          "_npi_diff", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
      const NDArray grad = *NDArray::Zeros(shape, DType::kFloat32);
      const auto executor =
          *Executor::Bind(y, {.args = {{"data", data}}, .grads = {{"data", grad}}});
      const int64_t rows = shape[1] - 1;
      std::vector<float> heads(shape[0] * rows * shape[2]);
      for (size_t i = 0; i < heads.size(); ++i) heads[i] = static_cast<float>(i * i % 1009);
      COOPER_ASSERT_OK(executor->Forward(true));
      COOPER_ASSERT_OK(
          executor->Backward({*NDArray::FromVector({shape[0], rows, shape[2]}, heads)}));
      const std::vector<float> actual = *grad.ToVector<float>();
      for (int64_t i = 0, at = 0; i < shape[0]; ++i) {
        for (int64_t j = 0; j <= rows; ++j) {
          for (int64_t k = 0; k < shape[2]; ++k, ++at) {
            const int64_t head = (i * rows + j) * shape[2] + k;
            const float before = j > 0 ? heads[head - shape[2]] : 0;
            const float here = j < rows ? heads[head] : 0;
            ASSERT_EQ(actual[at], before - here) << shape.ToString() << " at " << at;
          }
        }
      }
    }
  }
  SetNumThreads(0);
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

// Binds a count of `numbers` with weights of 0.5, 1, 1.5 and 0.5 again and so on.
template <typename T>
std::unique_ptr<Executor> CountsOf(const std::vector<T>& numbers, bool has_weights) {
  std::vector<Symbol> inputs = {Symbol::Variable("data")};
  const Shape shape({static_cast<int64_t>(numbers.size())});
  BindOptions options = {.args = {{"data", *NDArray::FromVector(shape, numbers)}}};
  if (has_weights) {
    std::vector<float> weights(numbers.size());
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5F * static_cast<float>(i % 3 + 1);
    inputs.push_back(Symbol::Variable("weights"));
    options.args.emplace("weights", *NDArray::FromVector(shape, weights));
  }
  const Symbol y = *Symbol::Create(
      "_npi_bincount",
      {.inputs = inputs,
       .attrs = {{"minlength", "100"}, {"has_weights", has_weights ? "True" : "False"}}});
  return *Executor::Bind(y, std::move(options));
}

template <typename T>
void CheckCounts() {
  std::vector<T> numbers(1300);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(i * i % 97);
  std::vector<double> counts(100), sums(100);
  for (size_t i = 0; i < numbers.size(); ++i) {
    ++counts[static_cast<size_t>(numbers[i])];
    sums[static_cast<size_t>(numbers[i])] += 0.5 * static_cast<double>(i % 3 + 1);
  }
  for (const bool has_weights : {false, true}) {
    const auto executor = CountsOf(numbers, has_weights);
    COOPER_ASSERT_OK(executor->Forward(false));
    const NDArray out = *(*executor->outputs())[0].AsType(DType::kFloat64);
    EXPECT_EQ(*out.ToVector<double>(), has_weights ? sums : counts);
    // The last block has a number that is out of range.
    if (sizeof(T) > 1) {
      numbers[1290] = static_cast<T>(5000);
      EXPECT_THAT(
          CountsOf(numbers, has_weights)->Forward(false),
          StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has the number 5000, and")));
    }
    if (std::is_signed_v<T>) {
      numbers[1290] = static_cast<T>(-3);
      EXPECT_THAT(CountsOf(numbers, has_weights)->Forward(false),
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("negative number -3")));
    }
    numbers[1290] = static_cast<T>(1290 * 1290 % 97);
  }
}

TEST(NumpyMovementTest, BincountOfSeveralBlocks) {
  CheckCounts<uint8_t>();
  CheckCounts<int8_t>();
  CheckCounts<int32_t>();
  CheckCounts<int64_t>();
}

}  // namespace
}  // namespace cooper
