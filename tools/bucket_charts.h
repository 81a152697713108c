#ifndef COOPER_TOOLS_BUCKET_CHARTS_H_
#define COOPER_TOOLS_BUCKET_CHARTS_H_

// The charts of a bucket report, as HTML with captions for its page (html_page.h).

#include <string>

#include "tools/buckets/bucket_comparison.h"
#include "tools/buckets/bucket_memory.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {

// Returns a histogram of the lengths with the recommended boundaries; for pairs a map.
std::string LengthsFigure(const SampleLengths& lengths, const BucketComparison& comparison);

// Returns the fraction of padding by number of buckets.
std::string PaddingFigure(const BucketComparison& comparison);

// Returns real tokens per unit of cost by number of buckets; a step costs its length +
// step_overhead.
std::string SpeedFigure(const BucketComparison& comparison, double step_overhead);

// Returns the planned bytes of the recommended buckets, one per row of comparison.rows; pairs are
// labelled with the numbers of their rows.
std::string MemoryFigure(const BucketComparison& comparison, const BucketMemory& memory);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_CHARTS_H_
