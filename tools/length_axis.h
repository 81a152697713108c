#ifndef COOPER_TOOLS_LENGTH_AXIS_H_
#define COOPER_TOOLS_LENGTH_AXIS_H_

// Bins of lengths for histograms.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cooper {

// Bins of equal width, starting at length 1: bin i holds i * bin_width + 1 ... (i + 1) * bin_width.
struct LengthAxis {
  int64_t bin_width = 1;
  int64_t num_bins = 1;
  int64_t longest = 0;  // of all lengths
  // Samples behind the last bin. A few very long samples must not compress the chart of all others:
  // if the longest has more than twice the length that 99.5 % do not exceed, the axis ends at that
  // length.
  int64_t beyond = 0;

  int64_t end() const { return bin_width * num_bins; }  // the last length
  // Returns the bin of a length in [0, end()]; length 0 is in the first.
  int64_t Bin(int64_t length) const { return length < 1 ? 0 : (length - 1) / bin_width; }
};

// Returns at most `max_bins` bins, whose width is 1, 2, 5, 10, 20, ... `lengths` must not be empty
// or negative. O(n) time and memory.
LengthAxis MakeLengthAxis(absl::Span<const int64_t> lengths, int max_bins);

// Returns the number of samples in each bin, without those beyond the axis.
std::vector<int64_t> CountByBin(const LengthAxis& axis, absl::Span<const int64_t> lengths);

}  // namespace cooper

#endif  // COOPER_TOOLS_LENGTH_AXIS_H_
