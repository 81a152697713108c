#ifndef COOPER_TOOLS_SVG_BARS_H_
#define COOPER_TOOLS_SVG_BARS_H_

// Bar charts for HTML pages (html_page.h).

#include <string>
#include <vector>

namespace cooper {

struct BarChart {
  // Across [from, to] of the horizontal axis, `value` high.
  struct Bar {
    double from = 0;
    double to = 0;
    double value = 0;        // >= 0
    std::string label = {};  // above the bar, where it hides no other
    std::string tooltip = {};
    bool marked = false;  // in another colour; its label comes first where there is little room
  };
  struct Mark {
    double position = 0;
    std::string label;
  };

  std::string description;  // for those who cannot see the picture
  double from = 0;          // the horizontal axis
  double to = 1;
  std::string axis_title;  // below it
  std::vector<Bar> bars;
  std::vector<Mark> marks;  // of the axis, rising
  // Lines through the whole chart, rising, with labels above; every second strip between them is
  // shaded. Labels for which there is no room at all are left out.
  std::vector<Mark> boundaries;
  std::string unit;  // behind the numbers of the vertical axis, such as " %"
};

// An svg element, 800 units wide. No label touches another.
std::string SvgBars(const BarChart& chart);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_BARS_H_
