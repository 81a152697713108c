#ifndef COOPER_TOOLS_BUCKET_REPORT_PAGE_H_
#define COOPER_TOOLS_BUCKET_REPORT_PAGE_H_

// The page that //tools:bucket_report writes.

#include <optional>
#include <string>

#include "tools/bucket_comparison.h"
#include "tools/bucket_memory.h"
#include "tools/sample_lengths.h"

namespace cooper {

struct BucketReportInput {
  std::string source;  // where the lengths come from, for the heading
  SampleLengths lengths;
  BucketComparisonOptions options;
  BucketComparison comparison;  // by CompareBuckets, of the above
  // By PlanBucketMemory, of the recommended buckets; absent: the page says nothing of memory.
  std::optional<BucketMemory> memory = std::nullopt;
};

// One HTML file (html_page.h): the recommendation with what to paste, lengths with the boundaries
// in them, padding and speed by number of buckets, the buckets, their memory, and what is left out.
// Equal reports give equal pages.
std::string BucketReportPage(const BucketReportInput& report);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_REPORT_PAGE_H_
