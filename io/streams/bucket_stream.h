#ifndef COOPER_IO_STREAMS_BUCKET_STREAM_H_
#define COOPER_IO_STREAMS_BUCKET_STREAM_H_

// Serves batches of samples of similar lengths from data that does not fit in memory. Where
// BucketIter (io/buckets/bucket_iter.h) holds all samples, a BucketStream holds a bounded pool of
// them, reads shards in random order and draws batches from the pool at random.
//
//   COOPER_ASSIGN_OR_RETURN(auto paths, GlobPaths("data/shard-*.txt.gz"));
//   COOPER_ASSIGN_OR_RETURN(auto source, TextSource(paths, vocabulary));
//   COOPER_ASSIGN_OR_RETURN(
//       auto stream, BucketStream::Create(source, NextWordInputs(),
//                                         {.batch_size = 32, .common = {.max_buckets = 10}}));
//
// It is bounded: it holds at most pool_samples samples. It is resumable: a state has a few numbers
// for each sample of the pool, and a restored stream gives the same batches bit for bit. It can be
// one of several parts, which take the same steps in the same buckets whatever samples each has.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "io/batch/data_statistics.h"
#include "io/batch/key_values.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_iter.h"
#include "io/streams/held_samples.h"
#include "io/streams/mixed_source.h"
#include "io/streams/sample.h"
#include "io/streams/sample_source.h"
#include "io/streams/step_plan.h"
#include "io/streams/stream_inputs.h"
#include "ndarray/random/random.h"

namespace cooper {

// Options of BucketStream::Create. All parts of a training need the same ones, except for the
// part's index.
struct BucketStreamOptions {
  using LastBatch = CommonBucketOptions::LastBatch;
  using TooLong = BucketBoundariesOptions::TooLong;

  int64_t batch_size = 1;
  // The lengths to pad to, in any order: integers, or tuples if sequences are padded to several
  // elements of a key (SampleField::pad_to). A sample goes to the bucket that holds it with the
  // least padded data. If empty, common.max_buckets chooses them for `lengths` or, without these,
  // for the first choice_samples samples of at most 16 shards together, the same for all parts.
  std::vector<BucketKey> buckets;
  std::vector<BucketKey> lengths;  // of samples, with as many elements
  int64_t choice_samples = 20000;
  // With max_buckets: as in BucketIterOptions.
  std::function<double(absl::Span<const int64_t> key)> step_cost;
  BucketKey::Tuple max_extents;
  // With max_buckets and keys that are integers: Reset chooses all buckets but the largest again,
  // for the samples that all parts have read in the epoch; if there are none, it keeps the buckets.
  // A module binds a new bucket when its first batch comes. Not with kRollOver. What step_cost
  // refers to has to outlive the stream.
  bool rechoose_buckets = false;
  // The treatment of samples that no bucket holds; they are counted. kTruncate cuts them to the
  // bucket that keeps most of their steps, kSplit needs integer buckets. kError ends with
  // kInvalidArgument where the sample is read.
  TooLong too_long = TooLong::kDiscard;
  // Batch sizes of single buckets, which replace batch_size and tokens_per_batch.
  std::map<BucketKey, int64_t> batch_sizes;

  // The samples, and if positive the bytes (DataStatistics::pool_bytes), that are held at most;
  // samples that are being split may exceed them. Batches are drawn from the pool, so that a larger
  // one mixes samples better. Create refuses a pool in which it could happen that no bucket has a
  // full batch.
  int64_t pool_samples = 16384;
  int64_t pool_bytes = 0;

  // With several sources, and only then: the samples that all parts together read in an epoch.
  // A source with fewer samples than are drawn from it begins again; any other one continues in the
  // next epoch.
  int64_t epoch_samples = 0;

  // With num_parts > 1: returns the texts of all parts in the order of part_index, as
  // KVStore::AllGather (module/kvstore/kvstore.h) does. Every part calls it equally often. It is
  // called once for at most agree_batches steps, so a part waits for a slower one only then.
  std::function<absl::StatusOr<std::vector<std::string>>(const std::string& text)> all_gather;
  int64_t agree_batches = 8;

  // Choice of buckets, batch sizes, order and parts, as in BucketIter except that
  //   - parts read different shards (or, of fewer shards than parts, different samples), are given
  //     the same options but part_index, and need last_batch kPad: a part that lacks samples of a
  //     step's bucket serves rows of padding;
  //   - without `shuffle`, samples are read in order, and a batch is served as soon as a bucket has
  //     enough samples for one (with sort_batches: for that many);
  //   - sort_batches sorts by the longest sequence of a sample.
  CommonBucketOptions common;
};

// One thread at a time may use a stream. Next waits for files; a PrefetchingIter
// (io/iterators/prefetching_iter.h) around the stream reads ahead, but not if all_gather is that of
// the KVStore that the training uses, whose calls must come in the same order in all processes.
class BucketStream : public DataIter {
 public:
  // Creates a stream at the start of its first epoch. Reads samples only to choose buckets.
  // kInvalidArgument: for inputs and fields as in StreamBatcher::Create, for options out of range,
  // for a pool that is too small, and unless exactly one of `buckets` and common.max_buckets is
  // given; also the errors of the source.
  static absl::StatusOr<std::unique_ptr<BucketStream>> Create(
      std::shared_ptr<const SampleSource> source, StreamInputs inputs, BucketStreamOptions options);
  // Creates a stream that draws each sample from one of several sources, by their weights. Also
  // kInvalidArgument for sources as in MixedSource::Create.
  static absl::StatusOr<std::unique_ptr<BucketStream>> Create(std::vector<WeightedSource> sources,
                                                              StreamInputs inputs,
                                                              BucketStreamOptions options);

  // Returns the next batch; `index` and `lengths` are as in StreamBatcher::Make. An error of the
  // source is returned again by every call until the source can be read on. kUnavailable, with its
  // error, if another part fails.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  // Starts the next epoch: all parts have to call it together. Errors, which change nothing, come
  // with rechoose_buckets only: those of all_gather, and kInvalidArgument if it does not return a
  // valid text for each part.
  absl::Status Reset() override;
  absl::Status HardReset() override;

  // Return the descriptions of the largest bucket.
  const std::vector<DataDesc>& provide_data() const override { return buckets_.back().data_shapes; }
  const std::vector<DataDesc>& provide_label() const override {
    return buckets_.back().label_shapes;
  }
  std::optional<BucketKey> default_bucket_key() const override { return buckets_.back().key; }
  std::vector<BucketKey> bucket_keys() const override;
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const override;
  // Returns the batch size of the largest bucket.
  int64_t batch_size() const override { return batch_sizes_.back(); }
  std::optional<double> invalid_label(absl::string_view input) const override {
    return batcher_.PadValue(input);
  }

  // The state has the place of the stream in its shards and that of each sample in the pool: some
  // 20 bytes each. LoadState reads these samples again: it seeks in shards that can, and reads
  // others from their start. Statistics are not in the state. LoadState refuses the state of
  // another part, of other shards, buckets, batch sizes or options that decide about the order.
  // It cannot compare costs: with rechoose_buckets, bucket_cost and step_cost must be the same.
  // Several parts save and load their states at the same step.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

  // Counts this part. pool_bytes are elements, and 16 bytes for each field of a sample.
  DataStatistics statistics() const override;

 private:
  // The part of the state that changes from call to call.
  struct Position {
    uint64_t seed = 0;
    uint64_t epoch = 0;
    bool at_end = false;       // the cursor has no more samples in this epoch
    bool ended = false;        // the epoch has no more steps
    bool agree_again = false;  // on the end, which the state that was loaded has: see Next
    std::vector<int> planned;  // the buckets of the next steps
    RandomGenerator draws;     // of this part
    RandomGenerator plans;     // the same in all parts
    // With rechoose_buckets: the numbers of samples of the epoch by their length.
    std::map<int64_t, int64_t> lengths;
  };
  using Buckets = std::vector<HeldSamplesOptions::Bucket>;

  BucketStream(std::shared_ptr<const MixedSource> source, BucketStreamOptions options,
               StreamBatcher batcher, HeldSamplesOptions held);
  // Replaces the buckets, and removes all samples.
  void UseBuckets(Buckets buckets);
  // Chooses buckets for the samples of this epoch, together with the other parts.
  absl::StatusOr<Buckets> ChooseAgain() const;
  // Write position_.lengths and read it.
  void SaveLengths(KeyValues* state) const;
  static absl::StatusOr<std::map<int64_t, int64_t>> LoadLengths(const KeyValues& state);
  // Reads the buckets of a state.
  absl::StatusOr<Buckets> LoadBuckets(const KeyValues& state) const;
  void StartEpoch(uint64_t seed, uint64_t epoch, bool keep_samples);
  absl::Status Read();
  absl::Status FillPool();
  // Reads, and plans the next steps together with the other parts.
  absl::Status Plan();
  // Makes the batch of the first planned step and removes the step from the plan.
  absl::StatusOr<DataBatch> MakePlanned();
  absl::StatusOr<std::vector<HeldCounts>> Gather(const absl::Status& read);
  // Returns the texts of all parts. kInvalidArgument if all_gather does not return one for each.
  absl::StatusOr<std::vector<std::string>> GatherTexts(const std::string& text) const;
  std::unique_ptr<MixedCursor> MakeCursor(uint64_t seed) const;
  void SaveOptions(const Buckets& buckets, KeyValues* state) const;
  absl::Status CheckOptions(const KeyValues& state, const Buckets& buckets) const;

  const std::shared_ptr<const MixedSource> source_;
  const BucketStreamOptions options_;
  const StreamBatcher batcher_;
  HeldSamplesOptions held_options_;
  std::vector<BucketShapes> buckets_;  // by rising cost
  std::vector<int64_t> batch_sizes_;   // by bucket
  std::unique_ptr<MixedCursor> cursor_;
  std::unique_ptr<HeldSamples> held_;
  Position position_;
  Sample sample_;  // its buffers
  DataStatistics statistics_;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_BUCKET_STREAM_H_
