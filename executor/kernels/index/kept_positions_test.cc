#include "executor/kernels/index/kept_positions.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/float16.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// Returns the indices that nonzero elements have, one after the other, by counting up.
template <typename T>
std::vector<int64_t> Expected(const std::vector<T>& x, const Shape& shape) {
  std::vector<int64_t> indices, at(std::max(shape.rank(), 1));
  for (const T& element : x) {
    if (static_cast<float>(element) != 0) indices.insert(indices.end(), at.begin(), at.end());
    for (int axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis) at[axis] = 0;
  }
  return indices;
}

template <typename T>
void Check(DType dtype, const Shape& shape, uint64_t share_of_zeros) {
  RandomGenerator random(1);
  std::vector<T> x(shape.num_elements());
  for (T& element : x) {
    element = random.NextBelow(10) < share_of_zeros
                  ? T{}
                  : static_cast<T>(static_cast<float>(1 + random.NextBelow(100)));
  }
  const ArrayView view = {.data = x.data(), .shape = shape, .dtype = dtype};
  const std::vector<int64_t> expected = Expected(x, shape);
  const int64_t rank = std::max(shape.rank(), 1);
  const auto count = static_cast<int64_t>(expected.size()) / rank;

  std::vector<int64_t> indices(x.size() * rank, 5);
  EXPECT_EQ(WriteNonzeroIndices(view, WriteReq::kNull, nullptr), count);
  EXPECT_EQ(WriteNonzeroIndices(view, WriteReq::kWrite, indices.data()), count);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), indices.begin()));
  EXPECT_EQ(WriteNonzeroIndices(view, WriteReq::kAdd, indices.data()), count);
  for (size_t i = 0; i < indices.size(); ++i) {
    ASSERT_EQ(indices[i], i < expected.size() ? 2 * expected[i] : 5) << i;
  }

  std::vector<int64_t> workspace(x.size());
  const ArrayView positions = FindNonzero(view, workspace.data());
  ASSERT_EQ(positions.size(), count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      position = position * shape[axis] + expected[i * rank + axis];
    }
    ASSERT_EQ(workspace[i], position);
  }
}

TEST(KeptPositionsTest, AreInOrderForAllShapes) {
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const uint64_t share_of_zeros : {0, 5, 10}) {
      for (const Shape& shape :
           {Shape(), Shape({1}), Shape({0}), Shape({70000}), Shape({301, 257}), Shape({40000, 2}),
            Shape({9, 1, 7}), Shape({5, 80, 0}), Shape({31, 41, 53}), Shape({3, 2, 1, 2})}) {
        SCOPED_TRACE(testing::Message() << shape.ToString() << " with " << share_of_zeros);
        Check<float>(DType::kFloat32, shape, share_of_zeros);
        Check<int8_t>(DType::kInt8, shape, share_of_zeros);
        Check<Float16>(DType::kFloat16, shape, share_of_zeros);
      }
    }
  }
  SetNumThreads(0);
}

TEST(KeptPositionsTest, OnlyZerosAreZero) {
  std::vector<float> x = {0, -0.0F, std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::quiet_NaN(), 0.25F};
  std::vector<int64_t> indices(x.size());
  const ArrayView view = {.data = x.data(), .shape = Shape({5}), .dtype = DType::kFloat32};
  EXPECT_EQ(WriteNonzeroIndices(view, WriteReq::kWrite, indices.data()), 3);
  indices.resize(3);
  EXPECT_THAT(indices, ElementsAre(2, 3, 4));
}

}  // namespace
}  // namespace cooper
