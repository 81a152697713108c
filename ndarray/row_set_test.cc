#include "ndarray/row_set.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(RowSetTest, NothingIsKnownOfANewOne) {
  const RowSet rows(3);
  EXPECT_TRUE(rows.all());
  EXPECT_EQ(rows.num_rows(), 3);
}

TEST(RowSetTest, HoldsEachRowOnce) {
  RowSet rows(5);
  rows.Clear();
  EXPECT_FALSE(rows.all());
  EXPECT_THAT(rows.rows(), IsEmpty());
  for (int64_t row : {4, 0, 4, 2, 0}) rows.Insert(row);
  EXPECT_THAT(rows.rows(), UnorderedElementsAre(0, 2, 4));
  rows.Clear();
  EXPECT_THAT(rows.rows(), IsEmpty());
  rows.Insert(4);
  EXPECT_THAT(rows.rows(), ElementsAre(4));
}

TEST(RowSetTest, ForgetsWhichWereInItWhenAllAre) {
  RowSet rows(4);
  rows.Clear();
  rows.Insert(1);
  rows.InsertAll();
  rows.Insert(2);
  EXPECT_TRUE(rows.all());
  rows.Clear();
  EXPECT_FALSE(rows.all());
  EXPECT_THAT(rows.rows(), IsEmpty());
  rows.Insert(1);
  EXPECT_THAT(rows.rows(), ElementsAre(1));
}

TEST(RowSetTest, IsGivenUpForGood) {
  RowSet rows(4);
  rows.Clear();
  rows.GiveUp();
  EXPECT_TRUE(rows.all());
  rows.Clear();
  rows.Insert(1);
  EXPECT_TRUE(rows.all());
}

TEST(RowSetTest, InsertTakesNoMemoryBesideTheReserved) {
  RowSet rows(100);
  rows.Reserve();
  rows.Clear();
  const int64_t* const begin = rows.rows().data();
  for (int64_t row = 0; row < 100; ++row) rows.Insert(row);
  EXPECT_EQ(rows.rows().data(), begin);
  EXPECT_EQ(rows.rows().size(), 100);
}

}  // namespace
}  // namespace cooper
