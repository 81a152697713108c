#ifndef COOPER_TOOLS_SVG_LINES_H_
#define COOPER_TOOLS_SVG_LINES_H_

// Line charts for HTML pages (html_page.h), such as values by epoch.

#include <string>
#include <vector>

namespace cooper {

// The contents of a line chart. Texts are plain text, not HTML.
struct LineChart {
  struct Point {
    double x = 0;
    double y = 0;
    std::string tooltip = {};
  };
  // A line. A series with a single point is drawn as a dot, and a series of style kLevel as a
  // dashed horizontal line at the height of its first point.
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

  std::string description;  // alternative text
  double from = 0;          // the horizontal axis
  double to = 1;
  std::string axis_title;  // below it
  std::vector<Mark> marks;
  std::vector<Series> series;  // without values that are not finite
  bool log_y = false;          // a logarithmic vertical axis, if all values are positive
};

// Returns an svg element, 800 units wide. The vertical axis covers only the values, so it need not
// begin with 0. Labels do not touch each other.
std::string SvgLines(const LineChart& chart);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_LINES_H_
