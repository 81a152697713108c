#include "executor/kernels/loops/broadcast_plan.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using Dims = std::vector<int64_t>;

// Returns extents and the strides of both operands per axis: "3:4,0 4:1,1".
std::string PlanOf(const Dims& full, const Dims& a, const Dims& b) {
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, {a, b}, &plan)) return "too many axes";
  std::string text;
  for (int axis = 0; axis < plan.rank; ++axis) {
    absl::StrAppend(&text, axis == 0 ? "" : " ", plan.extents[axis], ":", plan.strides[0][axis],
                    ",", plan.strides[1][axis]);
  }
  return text;
}

TEST(BroadcastPlanTest, MergesAxes) {
  EXPECT_EQ(PlanOf({2, 3, 4}, {2, 3, 4}, {2, 3, 4}), "24:1,1");
  EXPECT_EQ(PlanOf({2, 3, 4}, {2, 3, 4}, {3, 4}), "2:12,0 12:1,1");
  EXPECT_EQ(PlanOf({2, 3, 4}, {2, 3, 4}, {2, 1, 1}), "2:12,1 12:1,0");
  EXPECT_EQ(PlanOf({2, 3, 4}, {2, 3, 4}, {1, 3, 1}), "2:12,0 3:4,1 4:1,0");
  EXPECT_EQ(PlanOf({1, 5, 1}, {5, 1}, {1, 1, 1}), "5:1,0");
  EXPECT_EQ(PlanOf({1, 1}, {1}, {1, 1}), "1:0,0");
  EXPECT_EQ(PlanOf({}, {}, {}), "1:0,0");
}

TEST(BroadcastPlanTest, ManyAxesThatDoNotMerge) {
  Dims full(34, 2), odd(34, 2);
  for (int i = 0; i < 34; i += 2) odd[i] = 1;
  EXPECT_EQ(PlanOf(full, full, odd), "too many axes");
}

TEST(BroadcastPlanTest, WalksAnyRange) {
  const Dims full = {3, 4, 5}, a = {3, 1, 5}, b = {4, 1};
  BroadcastPlan plan;
  ASSERT_TRUE(MakeBroadcastPlan(full, {a, b}, &plan));
  for (int64_t begin = 0; begin <= 60; ++begin) {
    for (int64_t end = begin; end <= 60; ++end) {
      int64_t next = begin;
      WalkBroadcast(plan, begin, end, [&](const int64_t* offsets, int64_t n, int64_t position) {
        ASSERT_EQ(position, next);
        for (int64_t i = 0; i < n; ++i, ++next) {
          const int64_t x = next / 20, y = next / 5 % 4, z = next % 5;
          ASSERT_EQ(offsets[0] + i * plan.strides[0][plan.rank - 1], x * 5 + z);
          ASSERT_EQ(offsets[1] + i * plan.strides[1][plan.rank - 1], y);
        }
      });
      ASSERT_EQ(next, end);
    }
  }
}

}  // namespace
}  // namespace cooper
