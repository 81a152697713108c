#ifndef COOPER_IO_BUCKETS_BUCKET_ITER_H_
#define COOPER_IO_BUCKETS_BUCKET_ITER_H_

// Serves batches of samples of similar extents. A sample has one array for every input
// (ragged_array.h) and goes to one bucket; the samples of a batch are from one bucket, and their
// arrays are padded. An encoder and a decoder, whose keys are pairs of lengths:
//
//   BucketIter::Create(
//       {{.name = "source", .values = sources, .length_name = "source_length"},
//        {.name = "target", .values = targets, .pad_to = {1}}},
//       {{.name = "softmax_label", .values = targets, .pad_to = {1}, .shift = 1}},
//       {.batch_size = 32, .buckets = {{10, 12}, {20, 24}}});
//
// Images grouped by shape (channels, height, width), without padding, and their classes:
//
//   BucketIter::Create(
//       {{.name = "data", .values = images, .pad_to = {kFree, 0, 1}}},
//       {{.name = "softmax_label", .values = classes}},
//       {.batch_size = 32, .key = [&](int64_t i) {
//         return BucketKey({images[i].shape()[1], images[i].shape()[2]});
//       }});
//
// BucketSentenceIter (bucket_sentence_iter.h) uses it for sentences that predict their next word.

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
#include "io/batch/ragged_array.h"
#include "io/buckets/bucket_order.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

struct BucketAssignment;

// A value of pad_to: the axis follows no element of the key.
inline constexpr int kFree = -1;

// Describes one input of the network.
struct BucketInput {
  std::string name;
  RaggedArray values;  // one array per sample
  // For each axis of a sample, the element of the bucket's key that it is padded to (an integer key
  // is its own element 0), or kFree: padded to the largest extent among the bucket's samples.
  // Missing axes are free. If empty: all axes are free if the keys are strings or `values` is rows
  // of one array. Otherwise axis 0 follows element 0, and samples of more than two axes must set
  // pad_to.
  std::vector<int> pad_to;
  double pad_value = 0;
  // The dtype of the batches and their descriptions. Create fails if it cannot hold an integer of
  // the samples or pad_value.
  DType dtype = DType::kFloat32;
  // A letter for each axis, with 'N' for the batch axis, which is inserted at that position. If
  // empty, "N", "NT" ("NC" for rows of one array), "NTC" or "NCHW", by the number of axes; samples
  // of more axes must set it.
  std::string layout;
  // Drops this many leading indices of axis 0, after truncation to the bucket, and moves the others
  // forward: 1 turns sentences into the words to predict.
  int64_t shift = 0;
  // If not empty, data has another array (batch_size,) of this name after all inputs. It holds for
  // each row the extent without padding along the first axis that follows the key (or, if none
  // does, the first axis that differs between samples, or else axis 0); 0 in padding rows.
  std::string length_name;
};

// The options that BucketIter and BucketSentenceIter share, for samples and sentences alike.
struct CommonBucketOptions {
  // Replaces `buckets`: chooses at most this many buckets that minimise the padded elements of data
  // (bucket_boundaries.h). With last_batch kDiscard each bucket has at least the samples of one
  // step, unless tokens_per_batch sets batch sizes. All parts choose the same buckets.
  int max_buckets = 0;
  // With max_buckets: the saving that justifies one more bucket, in elements of data or in the unit
  // of step_cost.
  double bucket_cost = 0;
  // With max_buckets: every element of every key is a multiple of this number.
  int64_t multiple_of = 1;

  // The treatment of a bucket's samples that do not fill its last batch of an epoch.
  enum class LastBatch {
    kDiscard,   // a bucket's samples that fill no batch are skipped; shuffling changes which
    kPad,       // they come in a batch whose other rows hold pad values only
    kSmaller,   // they come in a batch with fewer rows; not with several parts
    kRollOver,  // they come first in the next epoch, unless this one was interrupted
  };
  LastBatch last_batch = LastBatch::kDiscard;
  // If positive, a bucket that is not in batch_sizes has the largest batch size, at least 1, that
  // keeps its padded tokens within this number (see BucketIterReport::tokens).
  int64_t tokens_per_batch = 0;
  // If positive, the rows of each batch are sorted by falling length of the first data input (as
  // defined by length_name), and batches hold samples of similar lengths: the samples of this many
  // batches of a bucket are sorted together and then cut into batches, which come in random order.
  // 1 sorts the rows within each batch. The order of samples is random except within these groups,
  // and recurrent layers with lengths process the fewest rows at each step.
  int64_t sort_batches = 0;
  // If false, samples come bucket by bucket in their own order, in every epoch.
  bool shuffle = true;
  uint64_t seed = DefaultSeed();

  // For training in num_parts processes, where part_index is the rank (the names of MXNet's file
  // iterators). All parts must be created from the same samples and the same other options; they
  // visit the same buckets step by step, in equally many steps. One step takes num_parts * b
  // samples of a bucket with batch size b, as one iterator with batches of that size would, and
  // part p gets the rows [p * b, (p + 1) * b) or, with sort_batches and a full step, every
  // num_parts-th row from row p on. kDiscard leaves out samples that do not fill a step. With kPad
  // the last parts may get no sample in a bucket's last step, but a batch of padding with `pad`
  // equal to its batch size: all parts take part in each step. Its gradient is zero if the loss
  // ignores the pad value (use_ignore, ignore_label).
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

// Options of BucketIter::Create besides the inputs. `buckets`, `key` and common.max_buckets exclude
// each other: one of them decides the buckets.
struct BucketIterOptions {
  using LastBatch = CommonBucketOptions::LastBatch;

  int64_t batch_size = 1;
  // The keys of all buckets, integers or tuples: a sample goes to the bucket that holds it with the
  // fewest padded elements of data. Without `buckets` and `key`, common.max_buckets chooses them:
  // optimal integers if all axes that follow the key follow its element 0, else tuples
  // (bucket_tuples.h).
  std::vector<BucketKey> buckets;
  // Replaces `buckets`: returns the bucket of sample i, or nullopt to leave it out. Called once per
  // sample.
  std::function<std::optional<BucketKey>(int64_t i)> key;
  // With max_buckets, replaces elements of data: returns the cost of a sample in a bucket with this
  // key, such as the measured time of a step divided by its batch size (step_cost.h). At least 0;
  // must not fall as an element grows.
  std::function<double(absl::Span<const int64_t> key)> step_cost;
  // With max_buckets: the largest elements of a key, 0 for no limit; empty: no limits. Larger
  // samples are treated by too_long.
  BucketKey::Tuple max_extents;
  // The treatment of samples that fit in no bucket.
  enum class TooLong {
    kDiscard,   // a sample that no bucket holds is left out; an error with `key`
    kTruncate,  // the sample is truncated to the bucket that holds most of it
    kError,     // kInvalidArgument, naming the first such sample
  };
  TooLong too_long = TooLong::kDiscard;
  // Batch sizes of single buckets, which replace batch_size.
  std::map<BucketKey, int64_t> batch_sizes;
  std::string kind = "BucketIter";  // the iterator's name in messages and saved states
  CommonBucketOptions common;
};

// Counts what happens to the samples, over all parts; equal on each part. served, left_over and
// discarded add up to all samples.
struct BucketIterReport {
  int64_t served = 0;     // in the first epoch
  int64_t left_over = 0;  // fill no batch; with shuffle others in each epoch
  int64_t discarded = 0;  // no bucket holds them, or `key` returned nullopt
  int64_t truncated = 0;  // also counted in `served` or `left_over`
  // The part of `left_over` and `discarded` that comes in no batch of any epoch: discarded samples
  // and, with kDiscard, those of buckets with fewer samples than a step or, without shuffle, all
  // that fill no batch.
  int64_t never_served = 0;
  // Elements of data of the samples that have a bucket, along axes that follow the key or differ
  // between samples; without and with padding.
  int64_t tokens = 0;
  int64_t padded_tokens = 0;
  // The numbers of one bucket, for reports and for choosing batch sizes.
  struct Bucket {
    BucketKey key;
    int64_t batch_size = 0;  // of one part
    int64_t samples = 0;
    int64_t batches = 0;  // per part, in the first epoch
  };
  std::vector<Bucket> buckets;  // in rising order of their keys
  int64_t num_parts = 1;

  // Returns a line per bucket and one with the totals, in which a sample is called `noun`.
  std::string ToString(absl::string_view noun = "sample") const;
};

// Serves the samples of all buckets in batches. Not thread-safe.
class BucketIter : public DataIter {
 public:
  // Creates an iterator at the start of its first epoch. kInvalidArgument, naming input, sample or
  // bucket: if inputs have empty or equal names, different numbers of samples or an impossible
  // layout; if not exactly one of `buckets`, `key` and `max_buckets` is given; if no input follows
  // a key, or a key has an element below 1; if a sample exceeds the key that `key` returns for it;
  // if no sample has a bucket; or if an option is out of range.
  static absl::StatusOr<std::unique_ptr<BucketIter>> Create(std::vector<BucketInput> data,
                                                            std::vector<BucketInput> label,
                                                            BucketIterOptions options);

  // In a batch, `index` holds the ids of samples, -1 in padding rows; `lengths` holds the lengths
  // of the first data input, as length_name would, if its layout calls that axis 'T'.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  absl::Status HardReset() override;
  UnusedSamples unused_samples() const override;

  // Return the descriptions of the default bucket: the data inputs, then the arrays of length_name,
  // in the order of the inputs.
  const std::vector<DataDesc>& provide_data() const override { return default_bucket().data; }
  const std::vector<DataDesc>& provide_label() const override { return default_bucket().label; }
  // Returns the key of the bucket whose rows have the most elements.
  std::optional<BucketKey> default_bucket_key() const override { return default_bucket().key; }
  std::vector<BucketKey> bucket_keys() const override;
  int64_t batch_size() const override { return BatchSize(default_bucket_); }
  // Returns the input's pad_value.
  std::optional<double> invalid_label(absl::string_view input) const override;
  // Knows the keys of samples and those of `buckets`. In a bucket without samples, axes that follow
  // no element of the key are as long as the longest of all samples.
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const override;

  // The state holds seed, epoch, position and rolled-over samples. LoadState rejects the state of
  // another part, of other data, and of other batch sizes, shuffle, last_batch or sort_batches.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

  // Returns the batches of this epoch, the same on all parts, and in every epoch unless samples
  // roll over.
  int64_t num_batches() const { return order_.num_batches(); }
  const BucketIterReport& report() const { return report_; }

 private:
  struct Input {
    BucketInput spec;
    int batch_axis = 0;
    int length_axis = -1;          // the axis of the length; -1: none
    std::vector<int> pad_to;       // by axis: kFree or an element of the key
    std::vector<char> is_counted;  // by axis: whether tokens are counted along it

    // Returns whether length_axis counts time steps rather than, say, a height.
    bool is_sequence() const {
      if (spec.values.is_rows() || length_axis < 0) return false;
      return spec.layout[length_axis < batch_axis ? length_axis : length_axis + 1] == 'T';
    }
  };
  struct Bucket {
    BucketKey key;
    std::vector<Shape> extents;  // of a row, by input, data first
    std::vector<DataDesc> data;
    std::vector<DataDesc> label;
    int64_t batch_size = 0;
  };

  BucketIter(std::vector<BucketInput> data, std::vector<BucketInput> label,
             BucketIterOptions options);
  absl::Status CheckOptions() const;
  absl::Status CheckBucketOptions() const;
  absl::Status CheckInputs();
  absl::Status FindAxes(bool keys_are_strings);
  absl::Status Fill();
  // Returns the error for samples that no bucket holds.
  absl::Status TooLongError(const BucketAssignment& assigned) const;
  // Returns the bucket of this key that holds the given samples, of which there is at least one.
  absl::StatusOr<Bucket> MakeBucket(const BucketKey& key, absl::Span<const int64_t> ids) const;
  absl::Status FindExtents(absl::Span<const int64_t> ids, Bucket* bucket) const;
  // Returns the padded tokens of one row.
  int64_t RowTokens(const Bucket& bucket) const;
  // Adds the samples to the report's token counts.
  void CountTokens(absl::Span<const int64_t> ids, const Bucket& bucket);
  absl::StatusOr<int64_t> BatchSizeOf(const BucketKey& key, int64_t row_tokens) const;
  absl::StatusOr<NDArray> MakeArray(const Input& input, const DataDesc& desc, const Shape& extents,
                                    absl::Span<const int64_t> ids) const;
  // Returns the lengths that sort_batches needs; empty if it is off.
  absl::StatusOr<std::vector<int64_t>> LengthsToSortBy(const Bucket& bucket,
                                                       absl::Span<const int64_t> ids) const;
  int64_t LengthOf(const Input& input, const Shape& extents, int64_t id) const;
  const Bucket& default_bucket() const { return buckets_[default_bucket_]; }
  int64_t BatchSize(int bucket) const { return order_.buckets()[bucket].batch_size; }
  absl::Status Error(absl::string_view what) const;

  BucketIterOptions options_;
  std::vector<Input> inputs_;  // data, then label
  size_t num_data_ = 0;
  std::vector<Bucket> buckets_;  // in rising order of their keys, none empty
  int default_bucket_ = 0;
  BucketOrder order_;
  BucketIterReport report_;
};

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_ITER_H_
