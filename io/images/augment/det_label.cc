#include "io/images/augment/det_label.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr size_t kBoxWidth = 5;  // class and corners

}  // namespace

absl::StatusOr<DetLabel> ParseDetLabel(absl::Span<const float> labels) {
  const auto size = static_cast<float>(labels.size());
  const float header_width = labels.size() < 2 ? 0 : labels[0];
  const float object_width = labels.size() < 2 ? 0 : labels[1];
  // A width that is no number fails too.
  const bool are_widths = header_width >= 2 && header_width <= size &&
                          object_width >= static_cast<float>(kBoxWidth) && object_width < 1e6f;
  const size_t begin = are_widths ? static_cast<size_t>(header_width) : 0;
  const size_t step = are_widths ? static_cast<size_t>(object_width) : 1;
  if (!are_widths || begin > labels.size() || (labels.size() - begin) % step != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", labels.size(), " labels begin with ", header_width, " and ", object_width,
        ", expected the widths of the header, at least 2, and of an object, at least ", kBoxWidth,
        ", and an end behind an object"));
  }
  DetLabel label = {.header = {labels.begin(), labels.begin() + begin}};
  for (size_t at = begin; at < labels.size(); at += step) {
    const absl::Span<const float> from = labels.subspan(at, step);
    if (!(from[3] > from[1] && from[4] > from[2])) continue;
    label.objects.push_back({.id = from[0],
                             .left = from[1],
                             .top = from[2],
                             .right = from[3],
                             .bottom = from[4],
                             .extra = {from.begin() + kBoxWidth, from.end()}});
  }
  return label;
}

std::vector<float> DetLabel::ToArray() const {
  std::vector<float> labels = header;
  for (const DetObject& object : objects) {
    labels.insert(labels.end(), {object.id, object.left, object.top, object.right, object.bottom});
    labels.insert(labels.end(), object.extra.begin(), object.extra.end());
  }
  return labels;
}

}  // namespace cooper
