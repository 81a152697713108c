#ifndef COOPER_IO_BUCKETS_BUCKET_ORDER_H_
#define COOPER_IO_BUCKETS_BUCKET_ORDER_H_

// In which order an iterator goes through the samples of its buckets: which bucket each step takes,
// and which samples each part's batch has. It knows ids alone, no arrays. An epoch's order follows
// from seed and number of the epoch, and from the samples that the last one left over.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/key_values.h"

namespace cooper {

struct BucketOrderOptions {
  // What happens to the samples of a bucket that fill no step of all parts.
  enum class Remainder { kLeaveOut, kServe, kRollOver };
  Remainder remainder = Remainder::kLeaveOut;
  bool shuffle = true;
  uint64_t seed = 0;
  // If positive, the samples of so many steps of a bucket, after they are shuffled, are sorted by
  // falling length and then cut into steps. Steps that are not full are sorted apart, so that what
  // they leave out has no length of its own. The parts of a full step get every num_parts-th.
  int64_t sort_batches = 0;
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

class BucketOrder {
 public:
  struct Bucket {
    int64_t batch_size = 0;        // of one part; times num_parts no overflow
    std::vector<int64_t> ids;      // samples, each in one bucket, in the data's order
    std::vector<int64_t> lengths;  // of the samples; needed to sort
  };
  // Rows of one part in one step.
  struct Batch {
    int bucket = 0;
    absl::Span<const int64_t> ids;  // fewer than the batch size, or none, in a bucket's last step
  };

  BucketOrder() = default;
  // Stands at the start of the first epoch.
  BucketOrder(std::vector<Bucket> buckets, const BucketOrderOptions& options);

  // Steps of the present epoch, the same for all parts.
  int64_t num_batches() const { return static_cast<int64_t>(order_.size()); }
  bool AtEnd() const { return cursor_ == num_batches(); }
  // The present step's batch. Valid until the epoch ends. Requires !AtEnd().
  Batch Current() const;
  void Advance() { ++cursor_; }
  // Starts the next epoch. What rolls over comes first in it, unless the present one was broken
  // off.
  void NextEpoch();
  // Starts it without what would roll over.
  void NextEpochAlone();

  const std::vector<Bucket>& buckets() const { return buckets_; }
  // Batches of each part, and samples that are served, in the first epoch.
  int64_t NumBatches(int bucket) const { return NumBatches(buckets_[bucket], 0); }
  int64_t NumServed(int bucket) const;
  // Samples of a bucket that come in no batch of the present epoch.
  int64_t NumLeftOver(int bucket) const;

  // Adds what SaveState of the iterator called `kind` writes; `tokens` is a number by which other
  // data is noticed. LoadFrom goes there. kInvalidArgument, with `kind` in front, if the state is
  // of another part, of other options or batch sizes, of other data or of an impossible position;
  // the order then stays as it was. An older state, which names neither batch sizes nor shuffle nor
  // remainder, is taken.
  void SaveTo(int64_t tokens, KeyValues* state) const;
  absl::Status LoadFrom(absl::string_view kind, int64_t tokens, const KeyValues& state);

 private:
  struct Start {
    int bucket = 0;
    int64_t row = 0;  // in the bucket's order, of the first part
  };

  int64_t StepSize(const Bucket& bucket) const { return options_.num_parts * bucket.batch_size; }
  int64_t NumBatches(const Bucket& bucket, size_t carried) const;
  void StartEpoch();
  absl::Status ExpectOptions(absl::string_view kind, const KeyValues& state) const;
  absl::Status ExpectBatchSizes(absl::string_view kind, const KeyValues& state) const;
  // Of a bucket's rows_, as sort_batches says.
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
