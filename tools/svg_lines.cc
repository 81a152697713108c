#include "tools/svg_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tools/number_text.h"
#include "tools/svg_canvas.h"

namespace cooper {
namespace {

using Anchor = SvgCanvas::Anchor;
using Style = LineChart::Series::Style;

constexpr double kWidth = 800;
constexpr double kPlotHeight = 220;
constexpr double kRight = 12;  // half a label of the last mark
constexpr double kTop = SvgCanvas::kLineHeight + 14;
constexpr double kBottom = kTop + kPlotHeight;
constexpr double kBelow = 2 * SvgCanvas::kLineHeight + 6;
constexpr int kMaxMarks = 5;  // of the vertical axis
constexpr double kSample = 22;
constexpr double kDot = 5;
constexpr double kDash = 6;
// With more points than these a dot on each would be a thick line.
constexpr size_t kMaxDots = 60;

const char* LineStyle(Style style) { return style == Style::kFirst ? "curve" : "curve2"; }

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart), canvas_(kWidth, kBottom + kBelow) {
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (const LineChart::Series& series : chart.series) {
      for (const LineChart::Point& point : series.points) {
        lowest = std::min(lowest, point.y);
        highest = std::max(highest, point.y);
      }
    }
    if (lowest > highest) lowest = highest = 0;
    const double range = highest - lowest;
    step_ = RoundStep(range > 0 ? range : std::max(std::abs(highest), 1.0), kMaxMarks);
    first_ = std::floor(lowest / step_);
    last_ = std::max(std::ceil(highest / step_), first_ + 1);
    double widest = 0;
    for (double i = first_; i <= last_; ++i) {
      widest = std::max(widest, SvgCanvas::TextWidth(MarkText(i * step_, step_)));
    }
    left_ = widest + 8;
  }

  std::string Draw() {
    DrawLegend();
    for (double i = first_; i <= last_; ++i) {
      const double y = Y(i * step_);
      canvas_.Line(left_, y, kWidth - kRight, y, i == first_ ? "axis" : "grid");
      canvas_.Label(left_ - 6, y + 4, Anchor::kEnd, MarkText(i * step_, step_));
    }
    for (const LineChart::Series& series : chart_.series) DrawSeries(series);
    for (const LineChart::Mark& mark : chart_.marks) {
      canvas_.Line(X(mark.position), kBottom, X(mark.position), kBottom + 4, "axis");
      canvas_.Label(X(mark.position), kBottom + SvgCanvas::kLineHeight, Anchor::kMiddle,
                    mark.label);
    }
    canvas_.Label((left_ + kWidth - kRight) / 2, kBottom + 2 * SvgCanvas::kLineHeight,
                  Anchor::kMiddle, chart_.axis_title);
    return canvas_.ToString(chart_.description);
  }

 private:
  double X(double x) const {
    return left_ + (kWidth - kRight - left_) * (x - chart_.from) / (chart_.to - chart_.from);
  }
  double Y(double y) const {
    return kBottom - kPlotHeight * (y / step_ - first_) / (last_ - first_);
  }

  void Dashes(double x1, double x2, double y) {
    for (double x = x1; x < x2; x += 2 * kDash) {
      canvas_.Line(x, y, std::min(x + kDash, x2), y, "axis");
    }
  }

  void DrawLegend() {
    double x = left_;
    for (const LineChart::Series& series : chart_.series) {
      const double y = SvgCanvas::kLineHeight - 4;
      if (series.style == Style::kLevel) {
        Dashes(x, x + kSample, y);
      } else {
        canvas_.Line(x, y, x + kSample, y, LineStyle(series.style));
      }
      canvas_.Label(x + kSample + 5, y + 4, Anchor::kStart, series.name);
      x += kSample + 5 + SvgCanvas::TextWidth(series.name) + 18;
    }
  }

  void DrawSeries(const LineChart::Series& series) {
    if (series.points.empty()) return;
    if (series.style == Style::kLevel) {
      Dashes(left_, kWidth - kRight, Y(series.points[0].y));
      return;
    }
    for (size_t i = 1; i < series.points.size(); ++i) {
      const LineChart::Point &a = series.points[i - 1], &b = series.points[i];
      canvas_.Line(X(a.x), Y(a.y), X(b.x), Y(b.y), LineStyle(series.style));
    }
    if (series.points.size() > kMaxDots) return;
    for (const LineChart::Point& point : series.points) {
      canvas_.Rect(X(point.x) - kDot / 2, Y(point.y) - kDot / 2, kDot, kDot,
                   series.style == Style::kFirst ? "bar" : "marked", point.tooltip);
    }
  }

  const LineChart& chart_;
  double step_ = 1, first_ = 0, last_ = 1;  // marks of the vertical axis, in steps
  double left_ = 0;
  SvgCanvas canvas_;
};

}  // namespace

std::string SvgLines(const LineChart& chart) { return Drawing(chart).Draw(); }

}  // namespace cooper
