#include "tools/svg_bars.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random/random.h"
#include "tools/html_page.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string PageOf(const BarChart& chart) { return HtmlPage("t", SvgBars(chart)); }

TEST(SvgBarsTest, DrawsBarsMarksAndBoundaries) {
  const std::string svg =
      SvgBars({.description = "two bars",
               .from = 0.5,
               .to = 2.5,
               .axis_title = "buckets",
               .bars = {{.from = 0.6, .to = 1.4, .value = 40, .label = "40.0", .tooltip = "one"},
                        {.from = 1.6, .to = 2.4, .value = 20, .label = "20.0", .marked = true}},
               .marks = {{1, "1"}, {2, "2"}},
               .boundaries = {{1.5, "edge"}},
               .unit = " %"});
  EXPECT_THAT(svg, HasSubstr("aria-label=\"two bars\""));
  EXPECT_THAT(svg, HasSubstr("class=\"bar\"><title>one</title>"));
  EXPECT_THAT(svg, HasSubstr("class=\"marked\"/>"));
  EXPECT_THAT(svg, HasSubstr("class=\"strong halo\">20.0</text>"));
  EXPECT_THAT(svg, HasSubstr(">edge</text>"));
  EXPECT_THAT(svg, HasSubstr(">40 %</text>"));
  EXPECT_THAT(svg, HasSubstr(">buckets</text>"));
}

TEST(SvgBarsTest, LabelsCoverNoOtherBar) {
  BarChart chart{.from = -2, .to = 40};
  for (int i = 0; i < 40; ++i) {
    chart.bars.push_back(
        {.from = i + 0.0, .to = i + 1.0, .value = 100 - 2.5 * i, .label = absl::StrCat("bar", i)});
  }
  // So steep that the bar on the left hides every label but the first.
  EXPECT_THAT(SvgBars(chart), HasSubstr(">bar0<"));
  EXPECT_THAT(SvgBars(chart), Not(HasSubstr(">bar20<")));
  chart.bars[20].marked = true;
  EXPECT_THAT(SvgBars(chart), HasSubstr(">bar20<"));
}

TEST(SvgBarsTest, WithoutBarsThereIsAnAxis) {
  EXPECT_THAT(SvgBars({}), HasSubstr("class=\"axis\""));
  EXPECT_THAT(PageProblems(PageOf({})), IsEmpty());
}

TEST(SvgBarsTest, NoLabelsOverlapWhateverIsDrawn) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomGenerator random(seed);
    const auto bars = static_cast<int>(1 + random.NextBelow(130));
    const double scale = seed % 3 == 0 ? 1e9 : seed % 3 == 1 ? 100 : 0.01;
    BarChart chart{.from = 0.5, .to = bars + 0.5, .axis_title = "length"};
    double at = 0;
    for (int i = 1; i <= bars; ++i) {
      const auto value = scale * static_cast<double>(random.NextBelow(1000)) / 1000;
      chart.bars.push_back({.from = i - 0.4,
                            .to = i + 0.4,
                            .value = value,
                            .label = absl::StrCat(value),
                            .marked = random.NextBelow(10) == 0});
      chart.marks.push_back({i + 0.0, absl::StrCat(i * 10000)});
      at += static_cast<double>(random.NextBelow(3));
      if (at > 0 && at <= bars) chart.boundaries.push_back({at + 0.5, absl::StrCat(at * 1000)});
    }
    EXPECT_THAT(PageProblems(PageOf(chart)), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cooper
