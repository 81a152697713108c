#ifndef COOPER_TOOLS_BUCKET_SNIPPETS_H_
#define COOPER_TOOLS_BUCKET_SNIPPETS_H_

// The recommended buckets as text to paste.

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "tools/bucket_comparison.h"

namespace cooper {

// "12", and "(12, 15)" of a pair.
std::string BucketText(const BucketKey::Tuple& bucket);

// The flags of //examples:lstm_bucketing; empty for pairs, which it does not have.
std::string BucketFlags(const BucketComparison& comparison, const BucketComparisonOptions& options);

// C++ that makes the iterator: BucketSentenceIter, whose invalid_label is that of MXNet's tutorial,
// or BucketIter of pairs, whose inputs say their own pad values.
std::string BucketCode(const BucketComparison& comparison, const BucketComparisonOptions& options);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_SNIPPETS_H_
