#include "io/batch/gather_rows.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

std::vector<float> Gather(const NDArray& source, std::vector<int64_t> ids) {
  return *GatherRows(source, ids)->ToVector<float>();
}

TEST(GatherRowsTest, PicksRowsInTheOrderOfTheIds) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray source,
                              NDArray::FromVector<float>({3, 2}, {0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(Gather(source, {2, 0, 2}), ElementsAre(4, 5, 0, 1, 4, 5));
  EXPECT_THAT(Gather(source, {1, -1}), ElementsAre(2, 3, 0, 0));
  EXPECT_THAT(Gather(source, {1, 2}), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Gather(source, {}), ElementsAre());
}

TEST(GatherRowsTest, CopiesOnlyWhereItMust) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray source, NDArray::Zeros({4}, DType::kInt64));
  EXPECT_EQ(GatherRows(source, {1, 2, 3})->storage(), source.storage());
  EXPECT_NE(GatherRows(source, {1, 3})->storage(), source.storage());
}

}  // namespace
}  // namespace cooper
