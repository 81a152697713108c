// Tests that memory plans are at most 2 percent larger than their lower bounds, or proven optimal.
// :memory_plans prints the sizes for more networks.

#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/plans/plan_cases.h"

namespace cooper {
namespace {

void ExpectGoodPlans(const std::vector<PlanCase>& cases) {
  for (const PlanCase& plan_case : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const PlanRow row, Plan(plan_case));
    EXPECT_TRUE(row.IsGood()) << PlanRow::Header() << "\n" << row.ToString();
  }
}

TEST(MemoryPlansTest, OfGoldenCases) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<PlanCase> cases, GoldenPlanCases("tests/golden"));
  EXPECT_GT(cases.size(), 1500u);
  ExpectGoodPlans(cases);
}

TEST(MemoryPlansTest, OfRandomGraphs) { ExpectGoodPlans(RandomPlanCases(1000)); }

TEST(MemoryPlansTest, OfImageNetworks) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<PlanCase> cases, ImagePlanCases({4}));
  ExpectGoodPlans(cases);
}

}  // namespace
}  // namespace cooper
