#ifndef COOPER_TOOLS_SVG_BARS_H_
#define COOPER_TOOLS_SVG_BARS_H_

// Bar charts for HTML pages (html_page.h).

#include <string>
#include <vector>

namespace cooper {

// The contents of a bar chart. Texts are plain text, not HTML.
struct BarChart {
  // A bar over [from, to] of the horizontal axis, `value` high.
  struct Bar {
    double from = 0;
    double to = 0;
    double value = 0;        // >= 0
    std::string label = {};  // above the bar, if it hides no other bar
    std::string tooltip = {};
    bool marked = false;  // in another colour; its label is placed first
  };
  struct Mark {
    double position = 0;
    std::string label;
  };

  std::string description;  // alternative text
  double from = 0;          // the horizontal axis
  double to = 1;
  std::string axis_title;  // below it
  std::vector<Bar> bars;
  std::vector<Mark> marks;  // of the axis, rising
  // Lines through the whole chart, rising, with labels above; every second strip between them is
  // shaded. Labels that do not fit are left out.
  std::vector<Mark> boundaries;
  std::string unit;  // suffix of the numbers of the vertical axis, such as " %"
};

// Returns an svg element, 800 units wide. Labels do not touch each other.
std::string SvgBars(const BarChart& chart);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_BARS_H_
