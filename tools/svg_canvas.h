#ifndef COOPER_TOOLS_SVG_CANVAS_H_
#define COOPER_TOOLS_SVG_CANVAS_H_

// Pictures for HTML pages (html_page.h), whose classes give the colours. Units are those of the
// picture: its width is scaled to the page's.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

class SvgCanvas {
 public:
  static constexpr double kFontSize = 12;
  // From a line of text to the next.
  static constexpr double kLineHeight = 16;

  // The width of a text that is not wider in common fonts.
  static double TextWidth(absl::string_view text);

  SvgCanvas(double width, double height) : width_(width), height_(height) {}

  // A browser shows `tooltip`, which is text, if it is not empty.
  void Rect(double x, double y, double width, double height, absl::string_view style,
            absl::string_view tooltip = "", double opacity = 1);
  void Line(double x1, double y1, double x2, double y2, absl::string_view style);

  enum class Anchor { kStart, kMiddle, kEnd };
  // Text on the base line y, with x at its start, middle or end. One that would touch another, or
  // leave the picture, is left out, and false returned: put those that matter most first.
  bool Label(double x, double y, Anchor anchor, absl::string_view text,
             absl::string_view style = "");

  // `description` is for those who cannot see the picture.
  std::string ToString(absl::string_view description) const;

 private:
  struct Box {
    double left, right, top, bottom;
  };

  double width_, height_;
  std::vector<Box> labels_;
  std::string shapes_;
};

// Centres for labels of these widths, in rising order of where they would best be, so that none
// touches the next and all are within [low, high]: the sum of squared distances is the least.
// Empty if there is not enough room. O(n) time.
std::vector<double> SpreadLabels(const std::vector<double>& best, const std::vector<double>& widths,
                                 double low, double high);

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_CANVAS_H_
