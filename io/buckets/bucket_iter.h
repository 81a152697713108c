#ifndef COOPER_IO_BUCKETS_BUCKET_ITER_H_
#define COOPER_IO_BUCKETS_BUCKET_ITER_H_

// Batches of samples of about equal extents, whatever a sample is made of: each has one array for
// every input (ragged_array.h), and goes to one bucket; a batch is of one bucket, and its arrays
// are padded. An encoder and a decoder, whose buckets hold pairs of lengths:
//
//   BucketIter::Create(
//       {{.name = "source", .values = sources, .length_name = "source_length"},
//        {.name = "target", .values = targets, .pad_to = {1}}},
//       {{.name = "softmax_label", .values = targets, .pad_to = {1}, .shift = 1}},
//       {.batch_size = 32, .buckets = {{10, 12}, {20, 24}}});
//
// Images by shape (channels, height, width), which are not padded then, with their classes:
//
//   BucketIter::Create(
//       {{.name = "data", .values = images, .pad_to = {kFree, 0, 1}}},
//       {{.name = "softmax_label", .values = classes}},
//       {.batch_size = 32, .key = [&](int64_t i) {
//         return BucketKey({images[i].shape()[1], images[i].shape()[2]});
//       }});
//
// BucketSentenceIter (bucket_sentence_iter.h) is this for sentences that predict their next word.

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

// In pad_to: an axis that follows no element of the key.
inline constexpr int kFree = -1;

// One input of the network.
struct BucketInput {
  std::string name;
  RaggedArray values;  // an array of each sample
  // By axis of a sample, the element of the bucket's key that it is padded to (an integer is its
  // own element 0), or kFree: padded to the largest extent among the bucket's samples. Axes that
  // are not named are free. Empty: the only axis of sequences, and the first of two, follows
  // element 0, but nothing follows a string, and rows of one array are free. Samples of more axes
  // must say it, unless the keys are strings.
  std::vector<int> pad_to;
  double pad_value = 0;
  // Of the batches and their descriptions. Integers that it does not hold, and such a pad_value,
  // are an error of Create.
  DType dtype = DType::kFloat32;
  // A letter for each axis, 'N' being that of the batch, which is put in there among the sample's.
  // Empty: "N", "NT" ("NC" of rows of one array), "NTC", "NCHW", by the number of axes; samples of
  // more must give it.
  std::string layout;
  // So many indices of axis 0, after what the bucket has no room for is cut off, are left out, and
  // the others move to the front: 1 makes of sentences what each word has to predict.
  int64_t shift = 0;
  // If not empty, data has a (batch_size,) of this name too, behind all other inputs: of each row
  // the extent of the sample that is not padding, along the first axis that follows the key (the
  // first that is not the same in all samples, if none does). 0 in rows of padding.
  std::string length_name;
};

struct BucketIterOptions {
  int64_t batch_size = 1;
  // The keys of all buckets, integers or tuples: a sample goes to the one that holds it with the
  // least padding, in elements of data.
  std::vector<BucketKey> buckets;
  // In place of `buckets`: says the bucket of sample i. nullopt leaves it out. Called once for
  // each.
  std::function<std::optional<BucketKey>(int64_t i)> key;

  // In place of both: at most so many buckets, which leave these samples little padding, counted in
  // elements of data. Integers, the best ones (bucket_boundaries.h), if all axes that follow the
  // key follow its element 0; else tuples (bucket_tuples.h). If last_batch is kDiscard each has the
  // samples of a step, unless tokens_per_batch says batch sizes. All parts choose the same.
  int max_buckets = 0;
  // With max_buckets: what one more bucket has to save, in elements of data, or in what step_cost
  // counts.
  double bucket_cost = 0;
  // With max_buckets, in place of elements of data: what a sample costs in a bucket with this key,
  // such as the measured time of a step divided by its batch size (step_cost.h). At least 0, and
  // must not fall as an element grows.
  std::function<double(absl::Span<const int64_t> key)> step_cost;
  // With max_buckets: every element of every key is a multiple of it.
  int64_t multiple_of = 1;
  // With max_buckets: the largest elements of a key, 0 for no limit; empty: none. Samples that are
  // larger are too long.
  BucketKey::Tuple max_extents;

  enum class LastBatch {
    kDiscard,   // a bucket's samples that fill no batch wait for another epoch's order
    kPad,       // they come in a batch whose surplus rows hold pad values only
    kSmaller,   // they come in a batch with fewer rows; not with several parts
    kRollOver,  // they come first in the next epoch, unless this one was broken off
  };
  LastBatch last_batch = LastBatch::kDiscard;
  enum class TooLong {
    kDiscard,   // a sample that no bucket holds is left out; with `key` it is an error
    kTruncate,  // what the bucket that holds most of it has no room for is cut off
    kError,     // kInvalidArgument, naming the first such sample
  };
  TooLong too_long = TooLong::kDiscard;
  // Batch sizes of single buckets, in place of batch_size.
  std::map<BucketKey, int64_t> batch_sizes;
  // If positive, a bucket that is not in batch_sizes has batches of as many rows, at least one, as
  // keep its padded tokens within this number (see BucketIterReport::tokens).
  int64_t tokens_per_batch = 0;
  // If positive, rows of each batch are sorted by falling length, that of the first data input
  // (what length_name says), and batches hold samples of near lengths: of so many batches at a
  // time, of one bucket, the samples are sorted together and then cut into batches, which come in
  // any order. 1 sorts the rows of each batch alone. So the order of samples is random but for
  // their place within these batches, and recurrent layers with lengths have fewest rows at each
  // step.
  int64_t sort_batches = 0;
  // Without, samples come bucket by bucket in their own order, in every epoch.
  bool shuffle = true;
  uint64_t seed = DefaultSeed();

  // For training in num_parts processes, of which part_index is the rank; all parts must be made
  // from the same samples and other options. One step takes num_parts * b samples of a bucket with
  // batch size b, and part p gets the rows [p * b, (p + 1) * b), with sort_batches every
  // num_parts-th from the p-th on, if the step is full. With kPad the last parts may get padding
  // only in a bucket's last step: each step is made by all parts.
  int64_t part_index = 0;
  int64_t num_parts = 1;

  std::string kind = "BucketIter";  // what messages and saved states call the iterator
};

// What becomes of the samples, of all parts together: the same on each. The first three counts add
// up to all samples.
struct BucketIterReport {
  int64_t served = 0;     // in the first epoch
  int64_t left_over = 0;  // fill no batch; others in each epoch
  int64_t discarded = 0;  // no bucket holds them, or `key` left them out
  int64_t truncated = 0;  // cut (these are also in `served` or `left_over`)
  // Of `left_over` and `discarded`, those that come in no batch of any epoch: discarded ones, and
  // with kDiscard those of buckets with fewer samples than a step or, without shuffle, all that
  // fill no batch.
  int64_t never_served = 0;
  // Of the samples that have a bucket: elements of data along axes that follow the key or that are
  // not the same in all samples; with the padding.
  int64_t tokens = 0;
  int64_t padded_tokens = 0;
  struct Bucket {
    BucketKey key;
    int64_t batch_size = 0;  // of one part
    int64_t samples = 0;
    int64_t batches = 0;  // of each part, in the first epoch
  };
  std::vector<Bucket> buckets;  // in rising order of their keys
  int64_t num_parts = 1;

  // A line per bucket and one with the totals, in which a sample is called `noun`.
  std::string ToString(absl::string_view noun = "sample") const;
};

class BucketIter : public DataIter {
 public:
  // kInvalidArgument, naming input, sample or bucket, if inputs have no or equal names, different
  // numbers of samples or an impossible layout; if not one of `buckets`, `key` and `max_buckets` is
  // given, a key has no element that an input follows, or one below 1; if a sample exceeds what
  // `key` says of it; if no sample has a bucket, or an option is out of range.
  static absl::StatusOr<std::unique_ptr<BucketIter>> Create(std::vector<BucketInput> data,
                                                            std::vector<BucketInput> label,
                                                            BucketIterOptions options);

  // `index` of a batch holds numbers of samples, -1 in rows of padding; `lengths` what length_name
  // of the first data input says (whether it has one or not), if its layout calls that axis 'T'.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  absl::Status HardReset() override;
  UnusedSamples unused_samples() const override;

  // Of the default bucket. Data, then what length_name names, in the order of the inputs.
  const std::vector<DataDesc>& provide_data() const override { return default_bucket().data; }
  const std::vector<DataDesc>& provide_label() const override { return default_bucket().label; }
  // The bucket whose rows have most elements.
  std::optional<BucketKey> default_bucket_key() const override { return default_bucket().key; }
  std::vector<BucketKey> bucket_keys() const override;
  int64_t batch_size() const override { return BatchSize(default_bucket_); }
  // The input's pad_value.
  std::optional<double> invalid_label(absl::string_view input) const override;
  // What a bucket is bound with. kNotFound for a key that no sample has.
  absl::StatusOr<std::vector<DataDesc>> provide_data(const BucketKey& key) const;
  absl::StatusOr<std::vector<DataDesc>> provide_label(const BucketKey& key) const;

  // Seed, epoch and position (and what was rolled over). The state of another part is refused, as
  // that of other data is, and of other batch sizes, shuffle, last_batch or sort_batches.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

  // Batches of this epoch, the same on all parts, and in every epoch unless samples roll over.
  int64_t num_batches() const { return order_.num_batches(); }
  const BucketIterReport& report() const { return report_; }

 private:
  struct Input {
    BucketInput spec;
    int batch_axis = 0;
    int length_axis = -1;          // -1: no axis tells a length
    std::vector<int> pad_to;       // by axis, kFree or an element of the key
    std::vector<char> is_counted;  // by axis: whether tokens are counted along it

    // Whether length_axis is one of time steps, not a height.
    bool is_sequence() const {
      if (spec.values.is_rows() || length_axis < 0) return false;
      return spec.layout[length_axis < batch_axis ? length_axis : length_axis + 1] == 'T';
    }
  };
  struct Bucket {
    BucketKey key;
    std::vector<Shape> extents;  // by input, data first: of a row
    std::vector<DataDesc> data;
    std::vector<DataDesc> label;
  };

  BucketIter(std::vector<BucketInput> data, std::vector<BucketInput> label,
             BucketIterOptions options);
  absl::Status CheckOptions() const;
  absl::Status CheckBucketOptions() const;
  absl::Status CheckInputs();
  absl::Status FindAxes(bool keys_are_strings);
  absl::Status Fill();
  // Of samples that no bucket holds.
  absl::Status TooLongError(const BucketAssignment& assigned) const;
  absl::Status FindExtents(absl::Span<const int64_t> ids, Bucket* bucket) const;
  // Adds to the report's tokens. Those of a row with padding.
  int64_t CountTokens(absl::Span<const int64_t> ids, const Bucket& bucket);
  absl::StatusOr<int64_t> BatchSizeOf(const BucketKey& key, int64_t row_tokens) const;
  absl::StatusOr<const Bucket*> Find(const BucketKey& key) const;
  absl::StatusOr<NDArray> MakeArray(const Input& input, const DataDesc& desc, const Shape& extents,
                                    absl::Span<const int64_t> ids) const;
  // Of the samples, as sort_batches needs them; empty without.
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
