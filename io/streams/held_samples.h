#ifndef COOPER_IO_STREAMS_HELD_SAMPLES_H_
#define COOPER_IO_STREAMS_HELD_SAMPLES_H_

// Holds the samples of a stream by bucket: discards, truncates or splits long ones, draws the rows
// of batches at random, and saves and restores which samples are held.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/key_values.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/streams/sample.h"
#include "io/streams/sample_pool.h"
#include "io/streams/sample_reader.h"
#include "io/streams/sample_source.h"
#include "ndarray/random/random.h"

namespace cooper {

// The part of a BucketStream's options that decides which samples are held, and how.
struct HeldSamplesOptions {
  struct Bucket {
    BucketKey::Tuple extents;  // the elements of its key
    int64_t batch_size = 1;
  };
  // At least one, by rising cost: a sample goes to the first one that holds it.
  std::vector<Bucket> buckets;
  // kSplit needs buckets of one extent.
  BucketBoundariesOptions::TooLong too_long = BucketBoundariesOptions::TooLong::kDiscard;
  // IsFull() is true once max_samples samples are held, or if one more sample might exceed
  // max_bytes. 0: no limit.
  int64_t max_samples = 0;
  int64_t max_bytes = 0;
  bool shuffle = true;
  int64_t sort_batches = 0;  // CommonBucketOptions::sort_batches
};

// Counts samples by what became of them.
struct PlacedCounts {
  int64_t discarded = 0;
  int64_t truncated = 0;
  int64_t split = 0;  // samples that became several
};

// A pool of samples with a queue for each bucket. Not thread-safe.
class HeldSamples {
 public:
  using Handle = SamplePool::Handle;

  HeldSamples(std::vector<SampleField> fields, HeldSamplesOptions options);

  // Adds a sample to the bucket that holds it; one that no bucket holds is treated by too_long.
  // kInvalidArgument, naming nothing but the sample's properties, if its fields do not fit or it is
  // too long and too_long is kError.
  absl::Status Add(const Sample& sample, const SamplePlace& place);
  // Removes all samples.
  void Clear();

  // Returns whether no other sample should be added before a batch is taken: the limits are reached
  // or, without shuffle, some bucket has the samples of the batches that are sorted together.
  bool IsFull() const;
  // Returns the number of samples of each bucket.
  std::vector<int64_t> Counts() const;

  // Returns the rows of a bucket's next batch: as many as its batch size, or all that it has. Draws
  // random numbers only if no batch of the last draw is left. The rows stay first until Drop.
  absl::Span<const Handle> Front(int bucket, RandomGenerator* random);
  // Removes the rows that Front returned.
  void Drop(int bucket);

  const SamplePool& pool() const { return pool_; }
  // Returns the counts of all samples that Add was given, and sets them.
  const PlacedCounts& placed() const { return placed_; }
  void CountAs(const PlacedCounts& placed) { placed_ = placed; }

  // Writes the place of each sample, in the order that decides about later draws.
  void SaveTo(KeyValues* state) const;
  // Replaces all samples by those of a state, which are read from the source again, shard by shard.
  // Errors: kInvalidArgument for a state with other buckets or without such samples, and those of
  // the source; this object is then in an unspecified state.
  absl::Status LoadFrom(const KeyValues& state, const SampleSource& source);

 private:
  struct Queue {
    std::vector<Handle> drawn;  // sorted and cut into batches, the next batch first
    std::vector<Handle> free;   // in the order of arrival, which draws change
  };

  using Extents = absl::Span<const int64_t>;

  // Returns the first bucket that holds a sample, or -1.
  int FindBucket(Extents extents) const;
  // Returns the bucket of a piece, -1 if the sample has no such piece or none of it is kept: the
  // bucket that holds the piece or, for a sample that is truncated, the one that keeps most steps.
  int BucketOf(Extents extents, int64_t piece) const;
  Handle AddPiece(const Sample& sample, int bucket, const SampleId& id);
  void Draw(int bucket, RandomGenerator* random);
  void Sort(int64_t batch_size, RandomGenerator* random, std::vector<Handle>* window) const;

  const HeldSamplesOptions options_;
  SamplePool pool_;
  int64_t max_sample_bytes_ = 0;
  std::vector<Queue> queues_;  // by bucket
  PlacedCounts placed_;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_HELD_SAMPLES_H_
