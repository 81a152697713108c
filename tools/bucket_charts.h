#ifndef COOPER_TOOLS_BUCKET_CHARTS_H_
#define COOPER_TOOLS_BUCKET_CHARTS_H_

// The pictures of a report on buckets, as HTML for its page (html_page.h), with what they show.

#include <string>

#include "tools/bucket_comparison.h"
#include "tools/bucket_memory.h"
#include "tools/sample_lengths.h"

namespace cooper {

// How often each length occurs, with the recommended boundaries; of pairs a map.
std::string LengthsFigure(const SampleLengths& lengths, const BucketComparison& comparison);

// The share of padding by number of buckets.
std::string PaddingFigure(const BucketComparison& comparison);

// The real tokens per unit of cost by number of buckets; a step costs its length + step_overhead.
std::string SpeedFigure(const BucketComparison& comparison, double step_overhead);

// The planned bytes of the recommended buckets, as many as comparison.rows; of pairs by the numbers
// of their rows.
std::string MemoryFigure(const BucketComparison& comparison, const BucketMemory& memory);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_CHARTS_H_
