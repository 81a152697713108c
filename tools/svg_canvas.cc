#include "tools/svg_canvas.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/html_page.h"

namespace cooper {
namespace {

// Digits are 0.56 (Arial) to 0.64 (DejaVu Sans, Verdana) of the font's size wide, bold ones 0.70.
constexpr double kGlyphWidth = 0.7;
constexpr double kAscent = 0.8, kDescent = 0.25;
constexpr double kGap = 2;

}  // namespace

double SvgCanvas::TextWidth(absl::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto glyphs =
      static_cast<double>(text.size() - std::count_if(text.begin(), text.end(), continues));
  return kGlyphWidth * kFontSize * glyphs;
}

void SvgCanvas::Rect(double x, double y, double width, double height, absl::string_view style,
                     absl::string_view tooltip, double opacity) {
  absl::StrAppendFormat(&shapes_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x,
                        y, width, height);
  absl::StrAppend(&shapes_, " class=\"", EscapeHtml(style), "\"");
  if (opacity < 1) absl::StrAppendFormat(&shapes_, " fill-opacity=\"%.2f\"", opacity);
  if (tooltip.empty()) {
    absl::StrAppend(&shapes_, "/>\n");
  } else {
    absl::StrAppend(&shapes_, "><title>", EscapeHtml(tooltip), "</title></rect>\n");
  }
}

void SvgCanvas::Line(double x1, double y1, double x2, double y2, absl::string_view style) {
  absl::StrAppendFormat(&shapes_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", x1, y1,
                        x2, y2);
  absl::StrAppend(&shapes_, " class=\"", EscapeHtml(style), "\"/>\n");
}

bool SvgCanvas::Label(double x, double y, Anchor anchor, absl::string_view text,
                      absl::string_view style) {
  if (text.empty()) return true;
  const double width = TextWidth(text);
  const double left = anchor == Anchor::kStart    ? x
                      : anchor == Anchor::kMiddle ? x - width / 2
                                                  : x - width;
  const Box box = {left, left + width, y - kAscent * kFontSize, y + kDescent * kFontSize};
  if (box.left < 0 || box.right > width_ || box.top < 0 || box.bottom > height_) return false;
  for (const Box& other : labels_) {
    if (box.left < other.right + kGap && other.left < box.right + kGap && box.top < other.bottom &&
        other.top < box.bottom) {
      return false;
    }
  }
  labels_.push_back(box);
  absl::StrAppendFormat(&shapes_, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
  if (anchor != Anchor::kStart) {
    absl::StrAppend(&shapes_, " text-anchor=\"", anchor == Anchor::kMiddle ? "middle" : "end",
                    "\"");
  }
  if (!style.empty()) absl::StrAppend(&shapes_, " class=\"", EscapeHtml(style), "\"");
  absl::StrAppend(&shapes_, ">", EscapeHtml(text), "</text>\n");
  return true;
}

std::string SvgCanvas::ToString(absl::string_view description) const {
  return absl::StrCat("<svg viewBox=\"0 0 ", width_, " ", height_, "\" font-size=\"", kFontSize,
                      "\" role=\"img\" aria-label=\"", EscapeHtml(description), "\">\n", shapes_,
                      "</svg>\n");
}

std::vector<double> SpreadLabels(const std::vector<double>& best, const std::vector<double>& widths,
                                 double low, double high) {
  double room = high - low;
  for (const double width : widths) room -= width;
  if (room < 0) return {};
  // Labels that touch each other form a block, placed at the average of its labels' preferred
  // positions (pool adjacent violators).
  struct Block {
    double sum = 0;  // of the best left edges of the block, by each label
    size_t labels = 0;
    double width = 0;
  };
  const auto left = [&](const Block& block) {
    return std::clamp(block.sum / static_cast<double>(block.labels), low, high - block.width);
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < best.size(); ++i) {
    blocks.push_back({best[i] - widths[i] / 2, 1, widths[i]});
    while (blocks.size() > 1) {
      const Block& last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      if (left(before) + before.width <= left(last)) break;
      before.sum += last.sum - static_cast<double>(last.labels) * before.width;
      before.labels += last.labels;
      before.width += last.width;
      blocks.pop_back();
    }
  }
  std::vector<double> centres;
  for (const Block& block : blocks) {
    double edge = left(block);
    for (size_t i = 0; i < block.labels; ++i) {
      const double width = widths[centres.size()];
      centres.push_back(edge + width / 2);
      edge += width;
    }
  }
  return centres;
}

}  // namespace cooper
