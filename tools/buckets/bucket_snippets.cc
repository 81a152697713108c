#include "tools/buckets/bucket_snippets.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {
namespace {

using TooLong = BucketBoundariesOptions::TooLong;

std::string Elements(const BucketKey::Tuple& bucket) {
  return absl::StrJoin(bucket.begin(), bucket.end(), ", ");
}

std::string BatchSize(const BucketComparisonOptions& options) {
  return options.batch_size > 0 ? absl::StrCat(options.batch_size) : "batch_size";
}

}  // namespace

std::string BucketText(const BucketKey::Tuple& bucket) {
  return bucket.size() == 1 ? absl::StrCat(bucket[0]) : absl::StrCat("(", Elements(bucket), ")");
}

std::string BucketFlags(const BucketComparison& comparison,
                        const BucketComparisonOptions& options) {
  if (comparison.rows[0].bucket.size() > 1) return "";
  std::string flags = "--buckets=";
  for (const BucketRow& row : comparison.rows) {
    absl::StrAppend(&flags, flags.back() == '=' ? "" : ",", row.bucket[0]);
  }
  if (options.batch_size > 0) absl::StrAppend(&flags, " --batch_size=", options.batch_size);
  return flags;
}

std::string BucketCode(const BucketComparison& comparison, const BucketComparisonOptions& options) {
  const bool pairs = comparison.rows[0].bucket.size() > 1;
  const std::string buckets =
      absl::StrJoin(comparison.rows, ", ", [&](std::string* out, const BucketRow& row) {
        absl::StrAppend(
            out, pairs ? absl::StrCat("{", Elements(row.bucket), "}") : Elements(row.bucket));
      });
  const char* iter = pairs ? "BucketIter" : "BucketSentenceIter";
  const char* policy = comparison.truncated > 0 ? "kTruncate"
                       : comparison.split > 0   ? "kSplit"
                                                : "";
  const std::string too_long =
      *policy == '\0' ? "" : absl::StrCat(", .too_long = ", iter, "Options::TooLong::", policy);
  if (pairs) {
    return absl::StrCat("BucketIter::Create(data, labels, {.batch_size = ", BatchSize(options),
                        ", .buckets = {", buckets, "}", too_long, "})");
  }
  return absl::StrCat("BucketSentenceIter::Create(sentences, ", BatchSize(options),
                      ", {.buckets = {", buckets, "}, .invalid_label = 0", too_long, "})");
}

}  // namespace cooper
