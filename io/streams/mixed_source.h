#ifndef COOPER_IO_STREAMS_MIXED_SOURCE_H_
#define COOPER_IO_STREAMS_MIXED_SOURCE_H_

// Several sources in one stream, from which samples come in proportion to weights.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/key_values.h"
#include "io/streams/sample.h"
#include "io/streams/sample_reader.h"
#include "io/streams/sample_source.h"
#include "ndarray/random/random.h"

namespace cooper {

// A source and its share of the samples: weight divided by the sum of all weights.
struct WeightedSource {
  std::shared_ptr<const SampleSource> source;
  double weight = 1;  // in proportion to the others'
};

// The shards of several sources as one source, the first source's first. Thread-safe as its parts.
// A shard's number is that in its part plus the number of all shards before the part.
class MixedSource : public SampleSource {
 public:
  // kInvalidArgument, naming the source, if there is none, one has no shards or other fields than
  // the first, or a weight is not positive and finite.
  static absl::StatusOr<std::shared_ptr<const MixedSource>> Create(
      std::vector<WeightedSource> parts);

  const std::vector<SampleField>& fields() const override { return parts_[0].source->fields(); }
  int64_t num_shards() const override { return first_shards_.back(); }
  std::string shard_name(int64_t shard) const override;
  absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const override;
  double decode_seconds() const override;

  const std::vector<WeightedSource>& parts() const { return parts_; }
  // Returns the number of the first shard of source `part`.
  int64_t first_shard(size_t part) const { return first_shards_[part]; }

 private:
  MixedSource() = default;
  size_t PartOf(int64_t shard) const;

  std::vector<WeightedSource> parts_;
  std::vector<int64_t> first_shards_;  // and behind them the number of all shards
};

// Reads a mixed source epoch by epoch. With a single source, an epoch has each sample once. With
// several sources, it has a given number of samples, each from a source that is drawn by weight:
// every source then has epochs of its own, which continue across those of the mixture. Not
// thread-safe.
class MixedCursor {
 public:
  // `epoch_samples` is the number of samples of all parts in an epoch; unused with one source. The
  // source has to outlive the cursor.
  MixedCursor(const MixedSource& source, const ShardCursorOptions& options, int64_t epoch_samples);

  // These functions have the contracts of ShardCursor's. Places have the shards of the mixed
  // source. Next also returns kInvalidArgument if a drawn source has no sample for this part.
  void StartEpoch(uint64_t epoch);
  absl::StatusOr<bool> Next(Sample* sample, SamplePlace* place);
  void StepBack();
  void SaveTo(KeyValues* state) const;
  absl::Status LoadFrom(const KeyValues& state);

 private:
  bool is_mixed() const { return cursors_.size() > 1; }
  size_t Draw();
  absl::Status ReadFrom(size_t part, Sample* sample, SamplePlace* place);

  const MixedSource& source_;
  const ShardCursorOptions options_;
  const int64_t epoch_samples_;  // of this part
  std::vector<ShardCursor> cursors_;
  uint64_t epoch_ = 0;
  // With several sources: the samples that are left of the epoch, the draws of sources, and both
  // before the last Next, with its source.
  int64_t left_ = 0, left_before_ = 0;
  RandomGenerator draws_, draws_before_;
  size_t last_part_ = 0;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_MIXED_SOURCE_H_
