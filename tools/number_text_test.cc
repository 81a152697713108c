#include "tools/number_text.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(NumberTextTest, GroupsDigitsByThree) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(-123456), "-123,456");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(CountText(std::numeric_limits<int64_t>::max()), "9,223,372,036,854,775,807");
}

TEST(NumberTextTest, RoundsPercentages) {
  EXPECT_EQ(PercentText(0.18043), "18.0 %");
  EXPECT_EQ(PercentText(0), "0.0 %");
  EXPECT_EQ(PercentText(1), "100.0 %");
}

TEST(NumberTextTest, BytesHaveAUnit) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(9999), "9,999 B");
  EXPECT_EQ(BytesText(10000), "10.0 KB");
  EXPECT_EQ(BytesText(999949), "999.9 KB");
  EXPECT_EQ(BytesText(1144320), "1.14 MB");
}

TEST(NumberTextTest, StepsAreRoundAndFewEnough) {
  struct Case {
    double range;
    int max_steps;
    double step;
  };
  for (const auto& [range, max_steps, step] :
       {Case{60, 6, 10}, Case{61, 6, 20}, Case{0.3, 3, 0.1}, Case{7, 5, 2}, Case{23, 5, 5},
        Case{51, 1, 100}, Case{1e9, 5, 2e8}, Case{0, 5, 1}, Case{-3, 5, 1}}) {
    EXPECT_DOUBLE_EQ(RoundStep(range, max_steps), step) << range << " in " << max_steps;
  }
}

TEST(NumberTextTest, MarksHaveTheDigitsOfTheirStep) {
  EXPECT_EQ(MarkText(20, 10), "20");
  EXPECT_EQ(MarkText(1500, 500), "1,500");
  EXPECT_EQ(MarkText(0.3, 0.1), "0.3");
  EXPECT_EQ(MarkText(1, 0.25), "1.0");
  EXPECT_EQ(MarkText(1.25, 0.05), "1.25");
  EXPECT_EQ(MarkText(2500000, 500000), "2.5M");
  EXPECT_EQ(MarkText(2000000, 500000), "2M");
  EXPECT_EQ(MarkText(500000, 500000), "500,000");
  EXPECT_EQ(MarkText(2e9, 1e9), "2G");
}

}  // namespace
}  // namespace cooper
