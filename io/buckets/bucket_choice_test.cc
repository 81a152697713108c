#include "io/buckets/bucket_choice.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/ragged_array.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RaggedArray OfLengths(const std::vector<int64_t>& lengths) {
  std::vector<std::vector<int>> sequences;
  sequences.reserve(lengths.size());
  for (int64_t length : lengths) sequences.emplace_back(length, 1);
  return sequences;
}

RaggedArray OfShapes(const std::vector<Shape>& shapes) {
  std::vector<NDArray> arrays;
  arrays.reserve(shapes.size());
  for (const Shape& shape : shapes) arrays.push_back(NDArray::Zeros(shape).value());
  return arrays;
}

TEST(ChooseKeysTest, AreIntegersWhereAllAxesFollowOneElement) {
  const std::vector<KeyedArray> arrays = {
      {.name = "a", .values = OfLengths({1, 2, 9}), .pad_to = {0}},
      {.name = "label", .values = OfLengths({1, 3, 9}), .pad_to = {0}, .is_data = false}};
  COOPER_ASSERT_OK_AND_ASSIGN(auto keys, ChooseKeys(arrays, 3, {.max_buckets = 2}));
  EXPECT_THAT(keys, ElementsAre(BucketKey(3), BucketKey(9)));  // the label has room
  COOPER_ASSERT_OK_AND_ASSIGN(keys, ChooseKeys(arrays, 3, {.max_buckets = 9, .min_samples = 2}));
  EXPECT_THAT(keys, ElementsAre(BucketKey(9)));
  COOPER_ASSERT_OK_AND_ASSIGN(keys, ChooseKeys(arrays, 3, {.max_buckets = 9, .max_extents = {4}}));
  EXPECT_THAT(keys, ElementsAre(BucketKey(1), BucketKey(3)));
}

TEST(ChooseKeysTest, AreTuplesWhereAxesFollowSeveral) {
  const std::vector<KeyedArray> arrays = {
      {.name = "source", .values = OfLengths({1, 2, 9, 9}), .pad_to = {0}},
      {.name = "target", .values = OfLengths({7, 8, 1, 2}), .pad_to = {1}}};
  COOPER_ASSERT_OK_AND_ASSIGN(auto keys, ChooseKeys(arrays, 4, {.max_buckets = 2}));
  EXPECT_THAT(keys, ElementsAre(BucketKey({2, 8}), BucketKey({9, 2})));
  COOPER_ASSERT_OK_AND_ASSIGN(
      keys, ChooseKeys(arrays, 4, {.max_buckets = 2, .bucket_cost = 1000, .multiple_of = 4}));
  EXPECT_THAT(keys, ElementsAre(BucketKey({12, 8})));
  COOPER_ASSERT_OK_AND_ASSIGN(
      keys, ChooseKeys(arrays, 4, {.max_buckets = 2, .max_extents = {0, 4}, .truncate = true}));
  EXPECT_THAT(keys, ElementsAre(BucketKey({2, 4}), BucketKey({9, 2})));
}

// A bucket costs the number of its elements, the product of its extents: beside (8, 8) the bucket
// (2, 8), which holds two of the images, saves most.
TEST(ChooseKeysTest, CountElements) {
  const std::vector<KeyedArray> images = {
      {.name = "data",
       .values = OfShapes({{3, 2, 8}, {3, 8, 2}, {3, 8, 8}, {3, 2, 8}}),
       .pad_to = {-1, 0, 1}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto keys, ChooseKeys(images, 4, {.max_buckets = 2}));
  EXPECT_THAT(keys, ElementsAre(BucketKey({2, 8}), BucketKey({8, 8})));

  // A step of `b` costs ten times as much as one of `a`.
  const std::vector<KeyedArray> series = {
      {.name = "a", .values = OfLengths({2, 9, 9}), .pad_to = {0}},
      {.name = "b", .values = OfShapes({{2, 10}, {2, 10}, {4, 10}}), .pad_to = {1, -1}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto pairs, ChooseKeys(series, 3, {.max_buckets = 2}));
  EXPECT_THAT(pairs, ElementsAre(BucketKey({9, 2}), BucketKey({9, 4})));
}

TEST(ChooseKeysTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  const std::vector<KeyedArray> free = {{.name = "a", .values = OfLengths({1}), .pad_to = {-1}}};
  EXPECT_THAT(ChooseKeys(free, 1, {}), StatusIs(code, HasSubstr("no axis of an input follows")));
  const std::vector<KeyedArray> arrays = {{.name = "a", .values = OfLengths({1}), .pad_to = {0}}};
  EXPECT_THAT(ChooseKeys(arrays, 1, {.max_extents = {1, 2}}),
              StatusIs(code, HasSubstr("max_extents has several elements")));
}

}  // namespace
}  // namespace cooper
