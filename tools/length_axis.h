#ifndef COOPER_TOOLS_LENGTH_AXIS_H_
#define COOPER_TOOLS_LENGTH_AXIS_H_

// Bins of lengths for histograms.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cooper {

// Bins of equal width from length 1 on: bin i holds i * bin_width + 1 ... (i + 1) * bin_width.
struct LengthAxis {
  int64_t bin_width = 1;
  int64_t num_bins = 1;
  int64_t longest = 0;  // of all lengths
  // Samples behind the last bin. A few very long ones do not make a chart of all others narrow: if
  // the longest has more than twice the length that 99.5 % do not exceed, the axis ends with that.
  int64_t beyond = 0;

  int64_t end() const { return bin_width * num_bins; }  // the last length
  // Of a length in [0, end()]; that of 0 is the first.
  int64_t Bin(int64_t length) const { return length < 1 ? 0 : (length - 1) / bin_width; }
};

// At most `max_bins` bins, whose width is 1, 2, 5, 10, 20, ... There must be a length, and none
// below 0. O(n) time and memory.
LengthAxis MakeLengthAxis(absl::Span<const int64_t> lengths, int max_bins);

// Samples by bin, without those beyond.
std::vector<int64_t> CountByBin(const LengthAxis& axis, absl::Span<const int64_t> lengths);

}  // namespace cooper

#endif  // COOPER_TOOLS_LENGTH_AXIS_H_
