#include "tools/svg_bars.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tools/number_text.h"
#include "tools/svg_canvas.h"

namespace cooper {
namespace {

using Anchor = SvgCanvas::Anchor;

constexpr double kWidth = 800;
constexpr double kPlotHeight = 220;
constexpr double kRight = 12;  // half a label of the last mark
constexpr double kTop = 22;
constexpr double kLeaderHeight = 16;  // between boundaries and their labels
constexpr double kBelow = 2 * SvgCanvas::kLineHeight + 6;
constexpr int kMaxMarks = 5;  // of the vertical axis
constexpr double kLabelGap = 7;

class Drawing {
 public:
  explicit Drawing(const BarChart& chart)
      : chart_(chart),
        top_(kTop + (chart.boundaries.empty() ? 0 : kLeaderHeight)),
        bottom_(top_ + kPlotHeight),
        canvas_(kWidth, bottom_ + kBelow) {
    double highest = 0;
    for (const BarChart::Bar& bar : chart.bars) highest = std::max(highest, bar.value);
    step_ = RoundStep(highest, kMaxMarks);
    // Leaves room for the label of the highest bar.
    max_ = std::max(highest, step_);
    double widest = 0;
    for (int i = 0; i * step_ <= max_; ++i) {
      widest = std::max(widest, SvgCanvas::TextWidth(MarkOf(i)));
    }
    left_ = widest + 8;
  }

  std::string Draw() {
    DrawBands();
    for (int i = 0; i * step_ <= max_; ++i) {
      const double y = Y(i * step_);
      canvas_.Line(left_, y, kWidth - kRight, y, i == 0 ? "axis" : "grid");
      canvas_.Label(left_ - 6, y + 4, Anchor::kEnd, MarkOf(i));
    }
    for (const BarChart::Bar& bar : chart_.bars) DrawBar(bar);
    DrawBoundaries();
    for (const bool marked : {true, false}) {
      for (const BarChart::Bar& bar : chart_.bars) {
        if (bar.marked == marked && !bar.label.empty()) DrawBarLabel(bar);
      }
    }
    for (const BarChart::Mark& mark : chart_.marks) {
      canvas_.Line(X(mark.position), bottom_, X(mark.position), bottom_ + 4, "axis");
      canvas_.Label(X(mark.position), bottom_ + SvgCanvas::kLineHeight, Anchor::kMiddle,
                    mark.label);
    }
    canvas_.Label((left_ + kWidth - kRight) / 2, bottom_ + 2 * SvgCanvas::kLineHeight,
                  Anchor::kMiddle, chart_.axis_title);
    return canvas_.ToString(chart_.description);
  }

 private:
  double X(double position) const {
    return left_ + (kWidth - kRight - left_) * (position - chart_.from) / (chart_.to - chart_.from);
  }
  double Y(double value) const { return bottom_ - kPlotHeight * value / max_; }
  std::string MarkOf(int i) const { return absl::StrCat(MarkText(i * step_, step_), chart_.unit); }

  void DrawBands() {
    double from = chart_.from;
    bool shaded = false;
    for (const BarChart::Mark& boundary : chart_.boundaries) {
      if (shaded) {
        canvas_.Rect(X(from), top_, X(boundary.position) - X(from), kPlotHeight, "band");
      }
      shaded = !shaded;
      from = boundary.position;
    }
  }

  void DrawBar(const BarChart::Bar& bar) {
    double x = X(bar.from), width = X(bar.to) - x;
    // Positive values are at least one unit high, and wide bars have gaps between them.
    const double height = bar.value > 0 ? std::max(bottom_ - Y(bar.value), 1.0) : 0;
    const double gap = std::min(1.0, width / 6);
    canvas_.Rect(x + gap / 2, bottom_ - height, width - gap, height, bar.marked ? "marked" : "bar",
                 bar.tooltip);
  }

  void DrawBarLabel(const BarChart::Bar& bar) {
    const double half_width = SvgCanvas::TextWidth(bar.label) / 2;
    const double y = Y(bar.value) - 5;
    // The last bar's label may be wider than the space beside it.
    const double x = std::min(X((bar.from + bar.to) / 2), kWidth - half_width);
    const auto hides = [&](const BarChart::Bar& other) {
      return X(other.to) > x - half_width && X(other.from) < x + half_width && Y(other.value) < y;
    };
    if (!bar.marked && absl::c_any_of(chart_.bars, hides)) return;
    canvas_.Label(x, y, Anchor::kMiddle, bar.label, bar.marked ? "strong halo" : "halo");
  }

  void DrawBoundaries() {
    std::vector<double> best, widths;
    for (const BarChart::Mark& boundary : chart_.boundaries) {
      const double x = X(boundary.position);
      canvas_.Line(x, top_, x, bottom_, "boundary");
      best.push_back(x);
      widths.push_back(SvgCanvas::TextWidth(boundary.label) + kLabelGap);
    }
    const std::vector<double> centres = SpreadLabels(best, widths, 0, kWidth);
    for (size_t i = 0; i < best.size(); ++i) {
      // If not all labels fit, draws those that fit above their lines.
      const double centre = centres.empty() ? best[i] : centres[i];
      if (canvas_.Label(centre, kTop - 8, Anchor::kMiddle, chart_.boundaries[i].label, "strong")) {
        canvas_.Line(centre, kTop - 4, best[i], top_, "boundary");
      }
    }
  }

  const BarChart& chart_;
  double top_, bottom_, left_ = 0;
  double step_ = 1, max_ = 1;
  SvgCanvas canvas_;
};

}  // namespace

std::string SvgBars(const BarChart& chart) { return Drawing(chart).Draw(); }

}  // namespace cooper
