#include "examples/ctc/ctc.h"

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(CtcTest, ReadsLinesItHasNotSeen) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainLineReader(MakeTextLines(1500, 1), 8));
  const TextLines test = MakeTextLines(300, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const ReadLines read, ReadTextLines(*model, test));
  int right = 0;
  for (size_t i = 0; i < test.digits.size(); ++i) right += read.digits[i] == test.digits[i];
  EXPECT_GE(right, 297);
}

}  // namespace
}  // namespace cooper
