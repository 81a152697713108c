#ifndef COOPER_TOOLS_SVG_LINES_H_
#define COOPER_TOOLS_SVG_LINES_H_

// Line charts for HTML pages (html_page.h): what changes from epoch to epoch.

#include <string>
#include <vector>

namespace cooper {

struct LineChart {
  struct Point {
    double x = 0;
    double y = 0;
    std::string tooltip = {};
  };
  // One with a single point is that point, and one of kLevel a dashed line at its first point's
  // height from side to side.
  struct Series {
    enum class Style { kFirst, kSecond, kLevel };
    std::string name;  // in the legend above the chart
    std::vector<Point> points;
    Style style = Style::kFirst;
  };
  struct Mark {
    double position = 0;
    std::string label;
  };

  std::string description;  // for those who cannot see the picture
  double from = 0;          // the horizontal axis
  double to = 1;
  std::string axis_title;  // below it
  std::vector<Mark> marks;
  std::vector<Series> series;  // without values that are not finite
  bool log_y = false;          // a logarithmic vertical axis, if all values are positive
};

// An svg element, 800 units wide. The vertical axis shows the values alone: it need not begin with
// 0. No label touches another.
std::string SvgLines(const LineChart& chart);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_LINES_H_
