#include "tools/svg_canvas.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Anchor = SvgCanvas::Anchor;

TEST(SvgCanvasTest, DrawsShapesWithEscapedTexts) {
  SvgCanvas canvas(100, 50);
  canvas.Rect(1, 2, 30.25, 4, "bar", "a < b");
  canvas.Rect(0, 0, 1, 1, "band", "", 0.5);
  canvas.Line(1, 2, 3, 4, "grid");
  EXPECT_TRUE(canvas.Label(50, 30, Anchor::kMiddle, "<5>", "strong"));
  EXPECT_EQ(canvas.ToString("\"picture\""),
            "<svg viewBox=\"0 0 100 50\" font-size=\"12\" role=\"img\" "
            "aria-label=\"&quot;picture&quot;\">\n"
            "<rect x=\"1.0\" y=\"2.0\" width=\"30.2\" height=\"4.0\" class=\"bar\">"
            "<title>a &lt; b</title></rect>\n"
            "<rect x=\"0.0\" y=\"0.0\" width=\"1.0\" height=\"1.0\" class=\"band\" "
            "fill-opacity=\"0.50\"/>\n"
            "<line x1=\"1.0\" y1=\"2.0\" x2=\"3.0\" y2=\"4.0\" class=\"grid\"/>\n"
            "<text x=\"50.0\" y=\"30.0\" text-anchor=\"middle\" class=\"strong\">&lt;5&gt;</text>\n"
            "</svg>\n");
}

TEST(SvgCanvasTest, LeavesOutLabelsThatTouchOthers) {
  SvgCanvas canvas(100, 50);
  EXPECT_TRUE(canvas.Label(10, 20, Anchor::kStart, "12"));
  EXPECT_FALSE(canvas.Label(20, 25, Anchor::kStart, "touches"));
  EXPECT_FALSE(canvas.Label(10, 20, Anchor::kStart, "12"));
  EXPECT_TRUE(canvas.Label(60, 20, Anchor::kEnd, "34"));
  EXPECT_TRUE(canvas.Label(10, 36, Anchor::kStart, "56"));
  EXPECT_THAT(canvas.ToString(""), Not(HasSubstr("touches")));
}

TEST(SvgCanvasTest, LeavesOutLabelsThatLeaveThePicture) {
  SvgCanvas canvas(100, 50);
  EXPECT_FALSE(canvas.Label(5, 20, Anchor::kMiddle, "123"));
  EXPECT_FALSE(canvas.Label(90, 20, Anchor::kStart, "12"));
  EXPECT_FALSE(canvas.Label(50, 5, Anchor::kStart, "12"));
  EXPECT_FALSE(canvas.Label(50, 49, Anchor::kStart, "12"));
}

TEST(SvgCanvasTest, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(SvgCanvas::TextWidth("\xc3\x97\xe2\x82\xac"), SvgCanvas::TextWidth("ab"));
  EXPECT_EQ(SvgCanvas::TextWidth(""), 0);
}

TEST(SpreadLabelsTest, MovesOnlyWhatTouches) {
  EXPECT_THAT(SpreadLabels({10, 50}, {10, 10}, 0, 100), ElementsAre(10, 50));
  EXPECT_THAT(SpreadLabels({50, 50}, {10, 10}, 0, 100), ElementsAre(45, 55));
  EXPECT_THAT(SpreadLabels({50, 52, 90}, {10, 20, 10}, 0, 100),
              ElementsAre(DoubleEq(43.5), DoubleEq(58.5), 90));
}

TEST(SpreadLabelsTest, StaysWithinTheEdges) {
  EXPECT_THAT(SpreadLabels({0, 1}, {10, 10}, 0, 100), ElementsAre(5, 15));
  EXPECT_THAT(SpreadLabels({99, 100}, {10, 10}, 0, 100), ElementsAre(85, 95));
  EXPECT_THAT(SpreadLabels({10, 20}, {10, 10}, 0, 20), ElementsAre(5, 15));
  EXPECT_THAT(SpreadLabels({10, 20}, {10, 11}, 0, 20), IsEmpty());
  EXPECT_THAT(SpreadLabels({}, {}, 0, 20), IsEmpty());
}

TEST(SpreadLabelsTest, NoneTouchWhereverTheyWouldBe) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomGenerator random(seed);
    std::vector<double> best(1 + random.NextBelow(20)), widths;
    for (double& position : best) {
      position = static_cast<double>(random.NextBelow(400));
      widths.push_back(static_cast<double>(1 + random.NextBelow(20)));
    }
    std::sort(best.begin(), best.end());
    const std::vector<double> centres = SpreadLabels(best, widths, 0, 400);
    ASSERT_EQ(centres.size(), best.size()) << "seed " << seed;
    double free = 0;
    for (size_t i = 0; i < centres.size(); ++i) {
      EXPECT_GE(centres[i] - widths[i] / 2, free - 1e-9) << "seed " << seed;
      free = centres[i] + widths[i] / 2;
    }
    EXPECT_LE(free, 400 + 1e-9) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cooper
