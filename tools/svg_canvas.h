#ifndef COOPER_TOOLS_SVG_CANVAS_H_
#define COOPER_TOOLS_SVG_CANVAS_H_

// Draws pictures for HTML pages (html_page.h), whose classes define the colours. Units are those of
// the picture: its width is scaled to the page's.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// Collects shapes and labels of one picture.
class SvgCanvas {
 public:
  static constexpr double kFontSize = 12;
  // Distance between lines of text.
  static constexpr double kLineHeight = 16;

  // Returns an upper bound of the width of a text in common fonts.
  static double TextWidth(absl::string_view text);

  SvgCanvas(double width, double height) : width_(width), height_(height) {}

  // Draws a rectangle. A browser shows `tooltip`, which is text, if it is not empty.
  void Rect(double x, double y, double width, double height, absl::string_view style,
            absl::string_view tooltip = "", double opacity = 1);
  void Line(double x1, double y1, double x2, double y2, absl::string_view style);

  enum class Anchor { kStart, kMiddle, kEnd };
  // Draws text on the base line y, with x at its start, middle or end. Returns false and draws
  // nothing if it would touch another label or leave the picture, so important labels go first.
  bool Label(double x, double y, Anchor anchor, absl::string_view text,
             absl::string_view style = "");

  // Returns the svg element. `description` is its alternative text.
  std::string ToString(absl::string_view description) const;

 private:
  struct Box {
    double left, right, top, bottom;
  };

  double width_, height_;
  std::vector<Box> labels_;
  std::string shapes_;
};

// Returns centres for labels of these widths, given in the order of their preferred centres, so
// that none touches the next and all are within [low, high]. Minimizes the sum of squared distances
// to the preferred centres. Empty if there is not enough room. O(n) time.
std::vector<double> SpreadLabels(const std::vector<double>& best, const std::vector<double>& widths,
                                 double low, double high);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_CANVAS_H_
