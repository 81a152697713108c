#include "tools/length_axis.h"

#include <algorithm>
#include <cmath>

#include "tools/number_text.h"

namespace cooper {

LengthAxis MakeLengthAxis(absl::Span<const int64_t> lengths, int max_bins) {
  std::vector<int64_t> sorted(lengths.begin(), lengths.end());
  const auto most = (static_cast<int64_t>(sorted.size()) * 995 + 999) / 1000;
  const auto common = sorted.begin() + most - 1;
  std::nth_element(sorted.begin(), common, sorted.end());
  LengthAxis axis;
  axis.longest = *std::max_element(common, sorted.end());
  const int64_t end = std::max<int64_t>(axis.longest > 2 * *common ? *common : axis.longest, 1);
  axis.bin_width =
      std::max<int64_t>(std::llround(RoundStep(static_cast<double>(end), max_bins)), 1);
  axis.num_bins = (end + axis.bin_width - 1) / axis.bin_width;
  axis.beyond = std::count_if(sorted.begin(), sorted.end(),
                              [&](int64_t length) { return length > axis.end(); });
  return axis;
}

std::vector<int64_t> CountByBin(const LengthAxis& axis, absl::Span<const int64_t> lengths) {
  std::vector<int64_t> counts(static_cast<size_t>(axis.num_bins));
  for (const int64_t length : lengths) {
    if (length <= axis.end()) ++counts[axis.Bin(length)];
  }
  return counts;
}

}  // namespace cooper
