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
  // The lowest value is 15, so the axis does not begin at 0.
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgLinesTest, DrawsALogarithmicAxis) {
  LineChart chart{.from = 1, .to = 3, .log_y = true};
  chart.series = {{.points = {{1, 100, "first"}, {2, 10, "second"}, {3, 1, "third"}}}};
  const std::string svg = SvgLines(chart);
  // Equal factors are equal distances: the axis is 220 high, from y=250 up.
  for (const char* dot : {"y=\"27.5\" width=\"5.0\" height=\"5.0\" class=\"bar\"><title>first",
                          "y=\"137.5\" width=\"5.0\" height=\"5.0\" class=\"bar\"><title>second",
                          "y=\"247.5\" width=\"5.0\" height=\"5.0\" class=\"bar\"><title>third",
                          ">1<", ">2<", ">5<", ">10<", ">20<", ">50<", ">100<"}) {
    EXPECT_THAT(svg, HasSubstr(dot));
  }
  chart.series[0].points[2].y = 60;  // a narrow range has equal steps
  EXPECT_THAT(SvgLines(chart), HasSubstr(">50<"));
  chart.series[0].points[1].y = 70;
  EXPECT_THAT(SvgLines(chart), HasSubstr(">80<"));
  chart.series[0].points[1].y = -1;  // no logarithm
  EXPECT_THAT(SvgLines(chart), HasSubstr(">-50<"));
}

TEST(SvgLinesTest, AnyValuesGiveAPageWithoutFaults) {
  using Style = LineChart::Series::Style;
  const std::vector<std::vector<double>> values = {{},          {0},     {7},
                                                   {1, 1, 1},   {-3, 5}, {1e-9, 2e-9},
                                                   {1e12, 3},   {0.5},   {0.1, 0.30000001},
                                                   {5e-324, 1}, {1e308}, {1e-12, 1e12}};
  for (const auto& ys : values) {
    LineChart chart{.description = "chart", .from = 1, .to = 3, .axis_title = "x"};
    chart.series = {{.name = "first"}, Falling(300, 50, Style::kSecond)};
    for (const double y : ys) {
      chart.series[0].points.push_back({.x = 1.0 + chart.series[0].points.size(), .y = y});
    }
    for (int i = 1; i <= 60; ++i) chart.marks.push_back({1 + i / 30.0, absl::StrCat(i)});
    for (const bool log_y : {false, true}) {
      chart.log_y = log_y;
      EXPECT_THAT(PageProblems(HtmlPage("lines", SvgLines(chart))), IsEmpty());
      LineChart alone = chart;
      alone.series.pop_back();
      EXPECT_THAT(PageProblems(HtmlPage("lines", SvgLines(alone))), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace cooper
