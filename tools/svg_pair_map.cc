#include "tools/svg_pair_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/number_text.h"
#include "tools/svg_canvas.h"

namespace cooper {
namespace {

using Anchor = SvgCanvas::Anchor;

constexpr double kWidth = 800, kLeft = 80, kRight = 40, kTop = 22, kPlotHeight = 420;
constexpr double kBottom = kTop + kPlotHeight;
constexpr int kMarks = 8;

std::string RangeText(const LengthAxis& axis, int64_t bin) {
  const int64_t from = bin * axis.bin_width + 1, to = (bin + 1) * axis.bin_width;
  return from == to ? CountText(from) : absl::StrCat(CountText(from), " to ", CountText(to));
}

}  // namespace

std::string SvgPairMap(absl::Span<const int64_t> first, const LengthAxis& first_axis,
                       absl::Span<const int64_t> second, const LengthAxis& second_axis,
                       absl::Span<const std::pair<int64_t, int64_t>> buckets,
                       absl::string_view first_title, absl::string_view second_title) {
  const auto x = [&](double length) {
    return kLeft + (kWidth - kLeft - kRight) * length / static_cast<double>(first_axis.end());
  };
  const auto y = [&](double length) {
    return kBottom - kPlotHeight * length / static_cast<double>(second_axis.end());
  };
  std::vector<int64_t> counts(static_cast<size_t>(first_axis.num_bins * second_axis.num_bins));
  int64_t most = 1;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] > first_axis.end() || second[i] > second_axis.end()) continue;
    int64_t& count =
        counts[second_axis.Bin(second[i]) * first_axis.num_bins + first_axis.Bin(first[i])];
    most = std::max(most, ++count);
  }

  SvgCanvas canvas(kWidth, kBottom + 2 * SvgCanvas::kLineHeight + 6);
  canvas.Rect(kLeft, kTop, kWidth - kLeft - kRight, kPlotHeight, "band");
  for (int64_t j = 0; j < second_axis.num_bins; ++j) {
    for (int64_t i = 0; i < first_axis.num_bins; ++i) {
      const int64_t count = counts[j * first_axis.num_bins + i];
      if (count == 0) continue;
      const auto left = static_cast<double>(i * first_axis.bin_width);
      const auto right = static_cast<double>((i + 1) * first_axis.bin_width);
      const auto low = static_cast<double>(j * second_axis.bin_width);
      const auto high = static_cast<double>((j + 1) * second_axis.bin_width);
      // A logarithmic scale, so that a single sample is visible beside a million.
      const double share =
          most == 1 ? 1
                    : std::log(static_cast<double>(count)) / std::log(static_cast<double>(most));
      canvas.Rect(x(left), y(high), x(right) - x(left), y(low) - y(high), "bar",
                  absl::StrCat(RangeText(first_axis, i), " and ", RangeText(second_axis, j), ": ",
                               CountText(count), count == 1 ? " sample" : " samples"),
                  0.2 + 0.8 * share);
    }
  }
  for (const auto& [b, c] : buckets) {
    // A bucket that extends beyond an axis has no edge there.
    const bool x_shown = b <= first_axis.end(), y_shown = c <= second_axis.end();
    const double right = x_shown ? x(static_cast<double>(b)) : kWidth - kRight;
    const double top = y_shown ? y(static_cast<double>(c)) : kTop;
    if (x_shown) canvas.Line(right, kBottom, right, top, "boundary");
    if (y_shown) canvas.Line(kLeft, top, right, top, "boundary");
  }
  for (size_t i = 0; i < buckets.size(); ++i) {
    const auto& [b, c] = buckets[i];
    if (b > first_axis.end() || c > second_axis.end()) continue;
    const double right = x(static_cast<double>(b)), top = y(static_cast<double>(c));
    const std::string number = absl::StrCat(i + 1);
    // Places the number outside of the corner, or else inside.
    if (!canvas.Label(right + 3, top - 3, Anchor::kStart, number, "strong halo")) {
      canvas.Label(right - 3, top + 12, Anchor::kEnd, number, "strong halo");
    }
  }

  canvas.Line(kLeft, kBottom, kWidth - kRight, kBottom, "axis");
  canvas.Line(kLeft, kTop, kLeft, kBottom, "axis");
  const auto mark = [](const LengthAxis& axis, auto visit) {
    const double step = std::max(RoundStep(static_cast<double>(axis.end()), kMarks), 1.0);
    for (double at = 0; at <= static_cast<double>(axis.end()); at += step) {
      visit(at, MarkText(at, step));
    }
  };
  mark(first_axis, [&](double at, const std::string& text) {
    canvas.Label(x(at), kBottom + SvgCanvas::kLineHeight, Anchor::kMiddle, text);
  });
  mark(second_axis, [&](double at, const std::string& text) {
    canvas.Label(kLeft - 6, y(at) + 4, Anchor::kEnd, text);
  });
  canvas.Label((kLeft + kWidth - kRight) / 2, kBottom + 2 * SvgCanvas::kLineHeight, Anchor::kMiddle,
               first_title);
  canvas.Label(2, kTop - 10, Anchor::kStart, second_title);
  return canvas.ToString(absl::StrCat("Map of ", CountText(static_cast<int64_t>(first.size())),
                                      " pairs of lengths with the boxes of ", buckets.size(),
                                      buckets.size() == 1 ? " bucket" : " buckets"));
}

}  // namespace cooper
