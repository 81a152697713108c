#ifndef COOPER_IO_BUCKETS_BUCKET_ORDER_H_
#define COOPER_IO_BUCKETS_BUCKET_ORDER_H_

// Chooses, for each step of an epoch, the bucket of the batches and the samples of each part's
// batch. It knows only ids, no arrays. The order of an epoch is a function of the seed, the number
// of the epoch, and the samples that the last epoch left over.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/key_values.h"

namespace cooper {

// The options of the order. All parts of a training must have the same ones, except part_index, or
// they would serve different buckets in a step.
struct BucketOrderOptions {
  // The treatment of a bucket's samples that do not fill a step of all parts: they are left out,
  // come in a step with smaller batches, or come first in the next epoch.
  enum class Remainder { kLeaveOut, kServe, kRollOver };
  Remainder remainder = Remainder::kLeaveOut;
  bool shuffle = true;
  uint64_t seed = 0;
  // If positive, the shuffled samples of this many steps of a bucket are sorted by falling length
  // and then cut into steps. Partial steps are sorted separately, so that the samples that they
  // leave out are not biased by length. The parts of a full step get every num_parts-th sample.
  int64_t sort_batches = 0;
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

// The sequence of steps and batches of one part. Not thread-safe.
class BucketOrder {
 public:
  // The samples of a bucket, as the order needs to know them.
  struct Bucket {
    int64_t batch_size = 0;        // of one part; num_parts times it must not overflow
    std::vector<int64_t> ids;      // sample ids, each in one bucket, in the order of the data
    std::vector<int64_t> lengths;  // of the samples; needed for sort_batches
  };
  // The rows of one part in one step.
  struct Batch {
    int bucket = 0;
    absl::Span<const int64_t> ids;  // fewer than the batch size, or none, in a bucket's last step
  };

  BucketOrder() = default;
  // Starts at the first epoch.
  BucketOrder(std::vector<Bucket> buckets, const BucketOrderOptions& options);

  // Returns the number of steps of the current epoch, the same for all parts.
  int64_t num_batches() const { return static_cast<int64_t>(order_.size()); }
  // Returns whether the current epoch has no further step.
  bool AtEnd() const { return cursor_ == num_batches(); }
  // Returns the batch of the current step, valid until the epoch ends. Requires !AtEnd().
  Batch Current() const;
  void Advance() { ++cursor_; }
  // Starts the next epoch. Rolled-over samples come first in it, unless the current epoch was
  // interrupted.
  void NextEpoch();
  // Starts the next epoch without rolled-over samples.
  void NextEpochAlone();

  const std::vector<Bucket>& buckets() const { return buckets_; }
  // Return the number of batches of each part, and the number of samples that all parts serve
  // together, for one bucket in the first epoch.
  int64_t NumBatches(int bucket) const { return NumBatches(buckets_[bucket], 0); }
  int64_t NumServed(int bucket) const;
  // Returns the number of a bucket's samples that come in no batch of the current epoch.
  int64_t NumLeftOver(int bucket) const;

  // SaveTo adds the state of an iterator to `state`; `tokens` is a number that detects other data.
  // LoadFrom restores it. kInvalidArgument, with `kind` in front, for a state of another part, of
  // other options or batch sizes, of other data, or with an impossible position; the order is then
  // unchanged. States without batch sizes, shuffle and remainder, which earlier versions wrote, are
  // accepted.
  void SaveTo(int64_t tokens, KeyValues* state) const;
  absl::Status LoadFrom(absl::string_view kind, int64_t tokens, const KeyValues& state);

 private:
  struct Start {
    int bucket = 0;
    int64_t row = 0;  // the first part's row, in the bucket's order
  };

  int64_t StepSize(const Bucket& bucket) const { return options_.num_parts * bucket.batch_size; }
  int64_t NumBatches(const Bucket& bucket, size_t carried) const;
  void StartEpoch();
  absl::Status ExpectOptions(absl::string_view kind, const KeyValues& state) const;
  absl::Status ExpectBatchSizes(absl::string_view kind, const KeyValues& state) const;
  // Sorts a bucket's rows_ by sort_batches.
  void Sort(const Bucket& bucket, std::vector<int64_t>* rows) const;

  std::vector<Bucket> buckets_;
  BucketOrderOptions options_;
  std::vector<std::vector<int64_t>> carried_;  // by bucket: rolled over from the last epoch
  std::vector<std::vector<int64_t>> rows_;     // by bucket: its samples in this epoch's order
  std::vector<Start> order_;                   // the steps of this epoch
  uint64_t seed_ = 0;
  uint64_t epoch_ = 0;
  int64_t cursor_ = 0;  // in order_
};

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_ORDER_H_
