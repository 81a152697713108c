#ifndef COOPER_TOOLS_SVG_PAIR_MAP_H_
#define COOPER_TOOLS_SVG_PAIR_MAP_H_

// Draws pairs of lengths as a map for HTML pages (html_page.h).

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/length_axis.h"

namespace cooper {

// Returns an svg element, 800 units wide: samples by their first length, to the right, and their
// second, upwards, darker for more samples; each bucket as a box with its number (from 1 on) at the
// upper right corner. `first` and `second` have equal sizes; pairs and buckets beyond an axis are
// not shown. Labels do not touch each other. The axes' titles are text.
std::string SvgPairMap(absl::Span<const int64_t> first, const LengthAxis& first_axis,
                       absl::Span<const int64_t> second, const LengthAxis& second_axis,
                       absl::Span<const std::pair<int64_t, int64_t>> buckets,
                       absl::string_view first_title = "first length",
                       absl::string_view second_title = "second length");

}  // namespace cooper

#endif  // COOPER_TOOLS_SVG_PAIR_MAP_H_
