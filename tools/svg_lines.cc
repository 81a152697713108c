#include "tools/svg_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

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
constexpr double kMinLog = 1e-300;  // of a logarithmic axis, which ends at its reciprocal
// With more points, dots on each would form a thick line.
constexpr size_t kMaxDots = 60;

// Returns the labelled marks of an axis that shows all of [lowest, highest].
std::vector<LineChart::Mark> LinearMarks(double lowest, double highest) {
  const double range = highest - lowest;
  const double step = RoundStep(range > 0 ? range : std::max(std::abs(highest), 1.0), kMaxMarks);
  const double first = std::floor(lowest / step);
  const double last = std::max(std::ceil(highest / step), first + 1);
  std::vector<LineChart::Mark> marks;
  for (double i = first; i <= last; ++i) marks.push_back({i * step, MarkText(i * step, step)});
  return marks;
}

// Returns the marks of a logarithmic axis: 1, 2, 5, 10, 20, ..., only powers of ten for a wide
// range, equal steps for a narrow one. Requires lowest > 0.
std::vector<LineChart::Mark> LogMarks(double lowest, double highest) {
  if (lowest >= 1 && highest < 3 * lowest) return LinearMarks(lowest, highest);
  const bool wide = highest > 1000 * lowest;
  std::vector<LineChart::Mark> marks;
  for (double tens = std::pow(10, std::floor(std::log10(lowest)));; tens *= 10) {
    for (const double mark : {tens, 2 * tens, 5 * tens}) {
      if (wide && mark > tens) continue;
      if (mark <= lowest) marks.clear();
      marks.push_back({mark, MarkText(mark, mark)});
      if (mark >= highest && marks.size() > 1) return marks;
    }
  }
}

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
    log_y_ = chart.log_y && lowest > kMinLog && highest < 1 / kMinLog;
    marks_ = log_y_ ? LogMarks(lowest, highest) : LinearMarks(lowest, highest);
    double widest = 0;
    for (const LineChart::Mark& mark : marks_) {
      widest = std::max(widest, SvgCanvas::TextWidth(mark.label));
    }
    left_ = widest + 8;
  }

  std::string Draw() {
    DrawLegend();
    for (const LineChart::Mark& mark : marks_) {
      const double y = Y(mark.position);
      canvas_.Line(left_, y, kWidth - kRight, y, &mark == &marks_.front() ? "axis" : "grid");
      canvas_.Label(left_ - 6, y + 4, Anchor::kEnd, mark.label);
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
    const double low = Scaled(marks_.front().position), high = Scaled(marks_.back().position);
    return kBottom - kPlotHeight * (Scaled(y) - low) / (high - low);
  }
  double Scaled(double y) const { return log_y_ ? std::log(y) : y; }

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
  bool log_y_ = false;
  std::vector<LineChart::Mark> marks_;  // of the vertical axis, from its lower to its upper end
  double left_ = 0;
  SvgCanvas canvas_;
};

}  // namespace

std::string SvgLines(const LineChart& chart) { return Drawing(chart).Draw(); }

}  // namespace cooper
