#ifndef COOPER_TOOLS_BUCKET_REPORT_JSON_H_
#define COOPER_TOOLS_BUCKET_REPORT_JSON_H_

// Writes the result of //tools:bucket_report as JSON, which tools/charts.py draws.

#include <optional>
#include <string>

#include "tools/buckets/bucket_comparison.h"
#include "tools/buckets/bucket_memory.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {

// The contents of a report.
struct BucketReportInput {
  std::string source;  // where the lengths come from, for the heading
  SampleLengths lengths;
  BucketComparisonOptions options;
  BucketComparison comparison;  // from CompareBuckets with the members above
  // From PlanBucketMemory, for the recommended buckets; absent: the report has no memory.
  std::optional<BucketMemory> memory = std::nullopt;
};

// Returns one JSON object with "kind": "bucket_report" on one line: the options, the number of
// samples of each length, the padding by number of buckets, the recommended buckets with the
// samples that fill no batch, snippets to paste, and the planned memory. Equal input gives equal
// text. Bytes of `source` that are not UTF-8 are replaced.
std::string BucketReportJson(const BucketReportInput& report);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_REPORT_JSON_H_
