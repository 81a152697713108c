#ifndef COOPER_TOOLS_BUCKETS_BUCKET_SNIPPETS_H_
#define COOPER_TOOLS_BUCKETS_BUCKET_SNIPPETS_H_

// Formats the recommended buckets as snippets to paste.

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "tools/buckets/bucket_comparison.h"

namespace cooper {

// Returns "12", or "(12, 15)" for a pair.
std::string BucketText(const BucketKey::Tuple& bucket);

// Returns the flags of //tools/lm_train; empty for pairs, which it does not support.
std::string BucketFlags(const BucketComparison& comparison, const BucketComparisonOptions& options);

// Returns C++ that creates the iterator: BucketSentenceIter, with the invalid_label of MXNet's
// tutorial, or for pairs BucketIter, whose inputs have their own pad values.
std::string BucketCode(const BucketComparison& comparison, const BucketComparisonOptions& options);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKETS_BUCKET_SNIPPETS_H_
