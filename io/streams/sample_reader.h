#ifndef COOPER_IO_STREAMS_SAMPLE_READER_H_
#define COOPER_IO_STREAMS_SAMPLE_READER_H_

// Reads samples of one shard from any position, whether or not the source can return to positions;
// and the samples of an epoch, shard by shard in random order.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/key_values.h"
#include "io/streams/sample.h"
#include "io/streams/sample_source.h"

namespace cooper {

// The place of a sample in a source.
struct SamplePlace {
  int64_t shard = 0;
  int64_t ordinal = 0;   // the number of samples before it in the shard
  int64_t position = 0;  // ShardReader::Position before it
};

// A reader of one shard that keeps count of its samples. Not thread-safe.
class SampleReader {
 public:
  // Opens shard `shard` at its start. The source has to outlive the reader.
  static absl::StatusOr<SampleReader> Open(const SampleSource& source, int64_t shard);

  // Moves to a place of this shard: with the reader's SeekTo, or, where that is not implemented, by
  // reading all samples from the start of the shard or from the current place on. kOutOfRange if
  // the shard ends before the place.
  absl::Status MoveTo(const SamplePlace& place);

  // Returns the place of the sample that Next reads.
  SamplePlace place() const;
  // Reads a sample as ShardReader::Next.
  absl::StatusOr<bool> Next(Sample* sample);

 private:
  SampleReader(const SampleSource& source, int64_t shard, std::unique_ptr<ShardReader> reader);

  const SampleSource* source_;
  int64_t shard_;
  std::unique_ptr<ShardReader> reader_;
  int64_t ordinal_ = 0;
};

// The order of a part's samples: equal options give equal orders.
struct ShardCursorOptions {
  bool shuffle = true;  // the order of shards
  uint64_t seed = 0;
  // Part `part_index` gets every num_parts-th shard in the epoch's order. If there are fewer shards
  // than parts, every part reads all shards and gets every num_parts-th sample of each.
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

// Reads the samples of one part, epoch after epoch. The order of shards is a function of seed and
// epoch, the same in every process. Not thread-safe.
class ShardCursor {
 public:
  // Starts at epoch 0. The source has to outlive the cursor.
  ShardCursor(const SampleSource& source, const ShardCursorOptions& options);

  // Starts an epoch.
  void StartEpoch(uint64_t epoch);
  uint64_t epoch() const { return epoch_; }

  // Reads the next sample and sets `place` to its place. Returns false at the end of the epoch.
  // After an error the cursor has not moved.
  absl::StatusOr<bool> Next(Sample* sample, SamplePlace* place);
  // Moves back before the sample of the last Next.
  void StepBack();

  // Write the cursor's place to keys that begin with `prefix`, and read it. LoadFrom checks it
  // against the source, whose shards it does not open: the next Next does. Errors:
  // kInvalidArgument.
  void SaveTo(absl::string_view prefix, KeyValues* state) const;
  absl::Status LoadFrom(absl::string_view prefix, const KeyValues& state);

 private:
  // A place in the epoch.
  struct At {
    int64_t turn = 0;   // in order_
    SamplePlace place;  // its shard is not used
  };

  bool splits_shards() const { return source_.num_shards() < options_.num_parts; }
  absl::Status OpenReader();

  const SampleSource& source_;
  const ShardCursorOptions options_;
  uint64_t epoch_ = 0;
  std::vector<int64_t> order_;            // this part's shards in this epoch
  At at_, before_;                        // now, and before the last Next
  std::unique_ptr<SampleReader> reader_;  // at at_; null: to be opened
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_SAMPLE_READER_H_
