#ifndef COOPER_MODULE_BUCKETING_BUCKET_FILES_H_
#define COOPER_MODULE_BUCKETING_BUCKET_FILES_H_

// The files of a checkpoint that say which buckets there are: prefix-KEY-symbol.json for each key,
// prefix.buckets, which MXNet also writes, with the keys that are 32-bit integers, and
// prefix.bucket_keys with the keys of every kind, one per line. Parameters are in a file of all
// buckets (module/parameters/checkpoint.h).

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "module/options/sym_gen.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"

namespace cooper {

// Writes the symbols and both lists of their keys. kInvalidArgument, before anything is written, if
// a key cannot be part of a file name or two keys have the same file name (10 and "10").
absl::Status SaveBucketSymbols(const std::string& prefix,
                               const std::map<BucketKey, Symbol>& symbols);

// Returns the keys of both lists, with repetitions. kNotFound if there is neither.
absl::StatusOr<std::vector<BucketKey>> LoadBucketKeys(const std::string& prefix);

// Reads the symbols of these keys; `limits` bounds each of them. The names of data and labels are
// not in the files.
absl::StatusOr<std::map<BucketKey, BucketSymbol>> LoadBucketSymbols(
    const std::string& prefix, absl::Span<const BucketKey> keys, const LoadLimits& limits);

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BUCKET_FILES_H_
