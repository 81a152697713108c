#include "tools/svg_lines.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/html_page.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

LineChart::Series Falling(int count, double from, LineChart::Series::Style style) {
  LineChart::Series series{.name = absl::StrCat("of ", count), .points = {}, .style = style};
  for (int i = 0; i < count; ++i) {
    series.points.push_back(
        {.x = i + 1.0, .y = from / (i + 1), .tooltip = absl::StrCat("point ", i + 1)});
  }
  return series;
}

TEST(SvgLinesTest, DrawsSeriesLevelsAndALegend) {
  using Style = LineChart::Series::Style;
  const std::string svg =
      SvgLines({.description = "a <b> chart",
                .from = 1,
                .to = 5,
                .axis_title = "epoch",
                .marks = {{1, "1"}, {5, "5"}},
                .series = {Falling(5, 100, Style::kFirst),
                           Falling(3, 80, Style::kSecond),
                           {.name = "floor", .points = {{0, 15}}, .style = Style::kLevel}}});
  EXPECT_THAT(svg, HasSubstr("a &lt;b&gt; chart"));
  EXPECT_THAT(svg, HasSubstr("point 5"));
  EXPECT_THAT(svg, HasSubstr("curve2"));
  for (const char* label : {">of 5<", ">of 3<", ">floor<", ">epoch<", ">100<"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
  // The lowest value is 15: no axis from 0 on.
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgLinesTest, AnyValuesGiveAPageWithoutFaults) {
  using Style = LineChart::Series::Style;
  const std::vector<std::vector<double>> values = {
      {}, {0}, {7}, {1, 1, 1}, {-3, 5}, {1e-9, 2e-9}, {1e12, 3}, {0.1, 0.30000001}};
  for (const auto& ys : values) {
    LineChart chart{.description = "chart", .from = 1, .to = 3, .axis_title = "x"};
    chart.series = {{.name = "first"}, Falling(300, 50, Style::kSecond)};
    for (const double y : ys) {
      chart.series[0].points.push_back({.x = 1.0 + chart.series[0].points.size(), .y = y});
    }
    for (int i = 1; i <= 60; ++i) chart.marks.push_back({1 + i / 30.0, absl::StrCat(i)});
    EXPECT_THAT(PageProblems(HtmlPage("lines", SvgLines(chart))), IsEmpty());
    chart.series.pop_back();
    EXPECT_THAT(PageProblems(HtmlPage("lines", SvgLines(chart))), IsEmpty());
  }
}

}  // namespace
}  // namespace cooper
