#ifndef COOPER_TOOLS_BUCKET_REPORT_PAGE_H_
#define COOPER_TOOLS_BUCKET_REPORT_PAGE_H_

// The page that //tools:bucket_report writes.

#include <optional>
#include <string>

#include "tools/buckets/bucket_comparison.h"
#include "tools/buckets/bucket_memory.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {

// The contents of the page.
struct BucketReportInput {
  std::string source;  // where the lengths come from, for the heading
  SampleLengths lengths;
  BucketComparisonOptions options;
  BucketComparison comparison;  // from CompareBuckets with the members above
  // From PlanBucketMemory, for the recommended buckets; absent: the page has no section on memory.
  std::optional<BucketMemory> memory = std::nullopt;
};

// Returns one HTML file (html_page.h): the recommendation with snippets to paste, lengths with
// boundaries, padding and speed by number of buckets, the buckets, their memory, and the samples
// that are left out. Equal input gives equal pages.
std::string BucketReportPage(const BucketReportInput& report);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_REPORT_PAGE_H_
