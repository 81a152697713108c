#ifndef COOPER_EXAMPLES_CTC_CTC_H_
#define COOPER_EXAMPLES_CTC_CTC_H_

// Reads lines of digits of any width in generated images without knowing the digits' positions,
// with connectionist temporal classification.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

struct TextLines {
  std::vector<NDArray> images;           // (8, width) each, of 0 (paper) to 1 (ink)
  std::vector<std::vector<int>> digits;  // 1 ... 10 for '0' ... '9'; 0 is CTC's blank
};

// Returns `count` lines of 2 to 7 digits, at varying heights and distances, with noise.
TextLines MakeTextLines(int64_t count, uint64_t seed);

// Returns batches of lines in five buckets with the least padding by width; the last batch of a
// bucket is smaller.
absl::StatusOr<std::unique_ptr<BucketIter>> LineBatches(const TextLines& lines, uint64_t seed);

// Maps data (batch_size, 8, key), width (batch_size,) and digits (batch_size, n) to the loss
// (batch_size,) and the probabilities (batch_size, key, 11) of blank and digits in each column.
BucketSymbol LineNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainLineReader(const TextLines& lines,
                                                                 int num_epoch);

struct ReadLines {
  std::vector<std::vector<int>> digits;           // in the form of TextLines::digits
  std::vector<std::vector<float>> probabilities;  // (width, 11) each
};

// Returns the digits that the model reads in each line, in the order of `lines`; does not use
// lines.digits.
absl::StatusOr<ReadLines> ReadTextLines(BucketingModule& model, const TextLines& lines);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_CTC_CTC_H_
