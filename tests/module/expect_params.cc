#include "tests/module/expect_params.h"

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {

void ExpectSameParams(const BaseModule& a, const BaseModule& b, float tolerance) {
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams first, a.GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams second, b.GetParams());
  ASSERT_EQ(first.args.size(), second.args.size());
  for (const auto& [name, array] : first.args) {
    ASSERT_TRUE(second.args.contains(name)) << name;
    EXPECT_THAT(Floats(second.args.at(name)),
                testing::Pointwise(testing::FloatNear(tolerance), Floats(array)))
        << name;
  }
}

}  // namespace cooper
