#ifndef COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_
#define COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_

// Batches of sentences of about equal length: each sentence is padded to the smallest bucket that
// holds it, and a batch is of one bucket. MXNet's mx.rnn.BucketSentenceIter, except that it counts
// what it leaves out, knows its rows' lengths and ids, and shuffles ids instead of rows. Samples of
// any other kind: BucketIter (bucket_iter.h), which does the work.

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
#include "ndarray/base/default_seed.h"
#include "ndarray/base/dtype.h"

namespace cooper {

struct BucketSentenceIterOptions {
  // The lengths to pad to, in any order. Empty: those that max_buckets says; without it, as in
  // MXNet, every length of which there are at least batch_size sentences, num_parts * batch_size if
  // there are several parts.
  std::vector<int64_t> buckets;
  // Fills data behind a sentence, and labels from the sentence's last token on. A dtype that does
  // not hold it is an error of Create: -1 would be word 255 in a uint8.
  double invalid_label = -1;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  // Of the batches. The descriptions say float32 whatever it is, as MXNet's do: a module converts
  // a batch on its way into the bound arrays. Words whose number it does not hold (above 2,048 in a
  // float16, 16,777,216 in a float32) are an error of Create.
  DType dtype = DType::kFloat32;
  // "NT": (batch_size, length); "TN": (length, batch_size).
  std::string layout = "NT";

  // Beyond MXNet, whose behaviour is the default.

  // In place of `buckets`: at most so many, those that leave these sentences the least padding
  // (bucket_boundaries.h). With kDiscard each of them has the sentences of a step, unless
  // tokens_per_batch says batch sizes.
  int max_buckets = 0;
  // With max_buckets: what one more bucket has to save, in padded tokens, or in what step_cost
  // counts.
  double bucket_cost = 0;
  // With max_buckets, in place of the length: what a sentence costs in a bucket of this length,
  // such as the time of a step, of which FitStepCost (step_cost.h) makes a line. Must not fall.
  std::function<double(int64_t length)> step_cost;
  // With max_buckets: every bucket is a multiple of it.
  int64_t multiple_of = 1;
  // With max_buckets: no bucket is longer; 0: as long as the longest sentence.
  int64_t max_length = 0;
  enum class LastBatch {
    kDiscard,   // a bucket's sentences that fill no batch wait for another epoch's order
    kPad,       // they come in a batch whose surplus rows hold invalid_label only
    kSmaller,   // they come in a batch with fewer rows; not with several parts
    kRollOver,  // they come first in the next epoch, unless this one was broken off
  };
  LastBatch last_batch = LastBatch::kDiscard;
  enum class TooLong {
    kDiscard,   // a sentence longer than every bucket (max_length) is left out
    kTruncate,  // its end is cut off
    // It is several sentences, as long as the longest bucket but for the last. Each piece is one in
    // all counts and ids, which are in the order of the text; labels go over its end: the last word
    // of a piece predicts the first one of the next.
    kSplit,
    kError,  // kInvalidArgument, naming the first such sentence
  };
  TooLong too_long = TooLong::kDiscard;
  // Batch sizes of single buckets, by length, in place of batch_size. A plan of the memory that
  // each bucket needs may say more for short ones.
  std::map<int64_t, int64_t> batch_sizes;
  // If positive, a bucket that is not in batch_sizes has batches of as many rows, at least one, as
  // keep batch size times length within this number of padded tokens.
  int64_t tokens_per_batch = 0;
  // If not empty, data has a (batch_size,) of this name too, behind data_name: how many tokens of
  // each row are real, 0 in rows of padding. Recurrent cells take it as valid_length.
  std::string length_name;
  // If positive, the sentences of so many batches of a bucket are sorted by falling length and then
  // cut into batches, which come in any order: batches hold near lengths, longest rows first. 1
  // sorts the rows of each batch alone. See BucketIterOptions.
  int64_t sort_batches = 0;
  // Without, sentences come bucket by bucket in their own order, in every epoch.
  bool shuffle = true;
  uint64_t seed = DefaultSeed();

  // For training in num_parts processes, of which part_index is the rank: MXNet's names for what
  // its iterators over files do. All parts must be made from the same sentences and the same other
  // options, and go through the same buckets step by step, in equally many steps. One step takes
  // num_parts * b sentences of a bucket with batch size b, as one iterator with batches that large
  // would, and part p gets the rows [p * b, (p + 1) * b) (with sort_batches every
  // num_parts-th of a full step). kDiscard leaves out what does not fill a
  // step. With kPad the last parts may get no sentence of a bucket's last step, but a batch of
  // padding only, with `pad` equal to its batch size: each step is made by all parts. Its gradient
  // is zero if the loss ignores invalid_label (use_ignore, ignore_label).
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

// What becomes of the sentences, of all parts together: the same on each. The first three counts
// add up to all sentences.
struct BucketSentenceIterReport {
  int64_t served = 0;     // in every epoch; with kRollOver in the first
  int64_t left_over = 0;  // fill no batch; others in each epoch
  int64_t discarded = 0;  // too long for the largest bucket
  int64_t truncated = 0;  // too long, cut (these are also in `served` or `left_over`)
  // Of `left_over` and `discarded`: in no batch of any epoch (BucketIterReport).
  int64_t never_served = 0;
  int64_t split = 0;          // too long, split: the sentences before, whose pieces count elsewhere
  int64_t tokens = 0;         // real tokens of all sentences that have a bucket
  int64_t padded_tokens = 0;  // the same with padding
  struct Bucket {
    int64_t length = 0;
    int64_t batch_size = 0;  // of one part
    int64_t sentences = 0;
    int64_t batches = 0;  // of each part; with kRollOver in the first epoch
  };
  std::vector<Bucket> buckets;  // by rising length
  int64_t num_parts = 1;

  // A line per bucket and one with the totals.
  std::string ToString() const;
};

class BucketSentenceIter : public DataIter {
 public:
  // kInvalidArgument if a batch size or a bucket is < 1, the layout is neither, part_index is not
  // in [0, num_parts), both `buckets` and `max_buckets` are given, or no sentence has a bucket
  // (with what would help).
  static absl::StatusOr<std::unique_ptr<BucketSentenceIter>> Create(
      absl::Span<const std::vector<int>> sentences, int64_t batch_size,
      BucketSentenceIterOptions options = {});

  // `index` of a batch holds positions in `sentences` (with kSplit of its pieces: sentence_of), -1
  // in rows of padding; `lengths` the tokens of each row.
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
  // Of the default bucket, the longest.
  int64_t batch_size() const override { return iter_->batch_size(); }
  std::optional<double> invalid_label(absl::string_view input) const override {
    return iter_->invalid_label(input);
  }

  // Seed, epoch and position: an epoch's order is a function of the first two. The state of another
  // part is refused, with kInvalidArgument, as that of other data is.
  absl::StatusOr<std::string> SaveState() const override { return iter_->SaveState(); }
  absl::Status LoadState(absl::string_view state) override { return iter_->LoadState(state); }

  // Batches of this epoch, the same on all parts, and in every epoch unless sentences roll over.
  int64_t num_batches() const { return iter_->num_batches(); }
  const BucketSentenceIterReport& report() const { return report_; }

  // The position in `sentences` of what has this id: the id itself unless sentences were split. -1,
  // the id of rows of padding, is its own.
  int64_t sentence_of(int64_t id) const {
    return split_ids_.empty() || id < 0 ? id : split_ids_[id];
  }

 private:
  BucketSentenceIter() = default;

  std::unique_ptr<BucketIter> iter_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  BucketSentenceIterReport report_;
  std::vector<int64_t> split_ids_;  // of each piece its sentence; empty: none was split
};

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_SENTENCE_ITER_H_
