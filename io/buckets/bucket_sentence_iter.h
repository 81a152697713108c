#ifndef COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_
#define COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_

// Serves batches of sentences of similar length, as MXNet's mx.rnn.BucketSentenceIter: each
// sentence is padded to the smallest bucket that holds it, and a batch is from one bucket. In
// addition it counts the sentences that it leaves out, knows the lengths and ids of its rows, and
// shuffles ids instead of rows. It is built on BucketIter (bucket_iter.h), which serves samples of
// any other kind.

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
#include "io/buckets/bucket_iter.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Options of BucketSentenceIter::Create. The labels are the sentence shifted by one: a word's label
// is the next word.
struct BucketSentenceIterOptions {
  using LastBatch = CommonBucketOptions::LastBatch;

  // The lengths to pad to, in any order. If empty, common.max_buckets chooses them; without
  // max_buckets, as in MXNet, every length that at least batch_size (with several parts num_parts *
  // batch_size) sentences have.
  std::vector<int64_t> buckets;
  // Fills data after the end of a sentence, and labels from the sentence's last token on. Create
  // fails if dtype cannot hold it: -1 would be word 255 in a uint8.
  double invalid_label = -1;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  // The dtype of the batches. The descriptions always say float32, as MXNet's do: a module converts
  // a batch when it copies it into the bound arrays. Create fails if it cannot hold a word id
  // (above 2,048 in a float16, 16,777,216 in a float32).
  DType dtype = DType::kFloat32;
  // "NT": (batch_size, length); "TN": (length, batch_size).
  std::string layout = "NT";

  // The options below are not in MXNet; their defaults give MXNet's behaviour.

  // With max_buckets, replaces the length: returns the cost of a sentence in a bucket of this
  // length, such as the time of a step, to which FitStepCost (step_cost.h) fits a line. Must not
  // fall.
  std::function<double(int64_t length)> step_cost;
  // With max_buckets: the maximum length of a bucket; 0: that of the longest sentence.
  int64_t max_length = 0;
  // The treatment of sentences that are longer than the longest bucket.
  enum class TooLong {
    kDiscard,   // a sentence longer than every bucket (max_length) is left out
    kTruncate,  // its end is cut off
    // The sentence becomes several, all but the last as long as the longest bucket. Counts and ids
    // treat each piece as a sentence, in the order of the text. Labels continue across pieces: the
    // last word of a piece predicts the first word of the next.
    kSplit,
    kError,  // kInvalidArgument, naming the first such sentence
  };
  TooLong too_long = TooLong::kDiscard;
  // Batch sizes of single buckets by length, which replace batch_size. Shorter buckets may use the
  // memory that a plan of the longest needs for larger batches.
  std::map<int64_t, int64_t> batch_sizes;
  // If not empty, data has another array (batch_size,) of this name after data_name: the number of
  // real tokens of each row, 0 in padding rows. Recurrent cells take it as valid_length.
  std::string length_name;
  // Choice of buckets, last batches, order, and parts: {.common = {.shuffle = false}}.
  CommonBucketOptions common;
};

// Counts what happens to the sentences, over all parts; equal on each part. served, left_over and
// discarded add up to all sentences.
struct BucketSentenceIterReport {
  int64_t served = 0;     // in every epoch; with kRollOver in the first
  int64_t left_over = 0;  // fill no batch; with shuffle others in each epoch
  int64_t discarded = 0;  // too long for the largest bucket
  int64_t truncated = 0;  // too long, truncated; also counted in `served` or `left_over`
  // The part of `left_over` and `discarded` that comes in no batch of any epoch (BucketIterReport).
  int64_t never_served = 0;
  int64_t split = 0;          // original sentences that were split; other counts have their pieces
  int64_t tokens = 0;         // real tokens of all sentences that have a bucket
  int64_t padded_tokens = 0;  // these tokens and their padding
  // The numbers of one bucket, for reports.
  struct Bucket {
    int64_t length = 0;
    int64_t batch_size = 0;  // of one part
    int64_t sentences = 0;
    int64_t batches = 0;  // per part; with kRollOver in the first epoch
  };
  std::vector<Bucket> buckets;  // by rising length
  int64_t num_parts = 1;

  // Returns a line per bucket and one with the totals.
  std::string ToString() const;
};

// Serves the sentences of all buckets in batches. Not thread-safe.
class BucketSentenceIter : public DataIter {
 public:
  // Creates an iterator, which copies the sentences. kInvalidArgument if a batch size or a bucket
  // is < 1, the layout is neither "NT" nor "TN", part_index is not in [0, num_parts), both
  // `buckets` and `max_buckets` are given, or no sentence has a bucket (with a remedy).
  static absl::StatusOr<std::unique_ptr<BucketSentenceIter>> Create(
      absl::Span<const std::vector<int>> sentences, int64_t batch_size,
      BucketSentenceIterOptions options = {});

  // In a batch, `index` holds positions in `sentences` (with kSplit those of pieces, see
  // sentence_of), -1 in padding rows; `lengths` holds the tokens of each row.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override { return iter_->Reset(); }
  absl::Status HardReset() override { return iter_->HardReset(); }
  UnusedSamples unused_samples() const override { return iter_->unused_samples(); }

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  std::optional<BucketKey> default_bucket_key() const override {
    return iter_->default_bucket_key();
  }
  std::vector<BucketKey> bucket_keys() const override { return iter_->bucket_keys(); }
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const override;
  // Returns the batch size of the default bucket, which is the longest.
  int64_t batch_size() const override { return iter_->batch_size(); }
  std::optional<double> invalid_label(absl::string_view input) const override {
    return iter_->invalid_label(input);
  }

  // The state holds seed, epoch and position: an epoch's order is a function of the first two.
  // kInvalidArgument for the state of another part or of other data.
  absl::StatusOr<std::string> SaveState() const override { return iter_->SaveState(); }
  absl::Status LoadState(absl::string_view state) override { return iter_->LoadState(state); }

  // Returns the batches of this epoch, the same on all parts, and in every epoch unless sentences
  // roll over.
  int64_t num_batches() const { return iter_->num_batches(); }
  const BucketSentenceIterReport& report() const { return report_; }

  // Returns the position in `sentences` of the sentence or piece with this id: the id itself unless
  // sentences were split. Returns -1 for -1, the id of padding rows.
  int64_t sentence_of(int64_t id) const {
    return split_ids_.empty() || id < 0 ? id : split_ids_[id];
  }

 private:
  BucketSentenceIter() = default;

  std::unique_ptr<BucketIter> iter_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  BucketSentenceIterReport report_;
  std::vector<int64_t> split_ids_;  // the sentence of each piece; empty: none was split
};

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_
