#include "io/buckets/bucket_sentence_iter.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "io/batch/ragged_array.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "BucketSentenceIter";

using Options = BucketSentenceIterOptions;

BucketIterOptions::TooLong TooLongOf(Options::TooLong too_long) {
  switch (too_long) {
    case Options::TooLong::kTruncate:
      return BucketIterOptions::TooLong::kTruncate;
    case Options::TooLong::kError:
      return BucketIterOptions::TooLong::kError;
    case Options::TooLong::kDiscard:
    case Options::TooLong::kSplit:
      break;
  }
  return BucketIterOptions::TooLong::kDiscard;
}

// Returns MXNet's automatic buckets: the lengths of which each part can fill a batch, so that all
// parts have the same buckets. Length 0 is excluded, since its arrays would be empty.
std::vector<int64_t> FrequentLengths(absl::Span<const std::vector<int>> sentences,
                                     int64_t batch_size, int64_t num_parts) {
  std::map<int64_t, int64_t> counts;
  for (const std::vector<int>& sentence : sentences) {
    ++counts[static_cast<int64_t>(sentence.size())];
  }
  std::vector<int64_t> lengths;
  for (const auto& [length, count] : counts) {
    if (length > 0 && count / num_parts >= batch_size) lengths.push_back(length);
  }
  return lengths;
}

// Returns the maximum length of a bucket; 0 if it is that of the longest sentence.
int64_t LongestBucket(const Options& options) {
  if (options.max_length > 0) {
    // An invalid multiple_of (below 1) must not cause a division by zero; Create reports it later.
    const int64_t multiple = std::max<int64_t>(options.common.multiple_of, 1);
    return options.max_length / multiple * multiple;
  }
  if (options.buckets.empty()) return 0;
  return *std::max_element(options.buckets.begin(), options.buckets.end());
}

// Sentences of at most `longest` tokens, and the word that each of their tokens predicts.
struct SplitSentences {
  std::vector<std::vector<int>> data;  // empty: no sentence is longer
  std::vector<std::vector<int>> label;
  std::vector<int64_t> ids;  // by piece: the id of its sentence
  int64_t split = 0;         // sentences that are several pieces
};

SplitSentences Split(absl::Span<const std::vector<int>> sentences, int64_t longest) {
  SplitSentences pieces;
  const auto is_longer = [longest](const std::vector<int>& sentence) {
    return static_cast<int64_t>(sentence.size()) > longest;
  };
  if (longest < 1 || std::none_of(sentences.begin(), sentences.end(), is_longer)) return pieces;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const std::vector<int>& sentence = sentences[i];
    pieces.split += is_longer(sentence) ? 1 : 0;
    auto from = sentence.begin();
    do {
      const auto to = sentence.end() - from > longest ? from + longest : sentence.end();
      pieces.data.emplace_back(from, to);
      pieces.label.emplace_back(from == sentence.end() ? from : from + 1,
                                to == sentence.end() ? to : to + 1);
      pieces.ids.push_back(static_cast<int64_t>(i));
      from = to;
    } while (from != sentence.end());
  }
  return pieces;
}

// Sets the dtype of all descriptions to float32, as MXNet's iterator does.
void DescribeAsFloat32(std::vector<DataDesc>* data, std::vector<DataDesc>* label) {
  for (std::vector<DataDesc>* descs : {data, label}) {
    for (DataDesc& desc : *descs) desc.dtype = DType::kFloat32;
  }
}

}  // namespace

std::string BucketSentenceIterReport::ToString() const {
  BucketIterReport report = {.served = served,
                             .left_over = left_over,
                             .discarded = discarded,
                             .truncated = truncated,
                             .never_served = never_served,
                             .tokens = tokens,
                             .padded_tokens = padded_tokens,
                             .num_parts = num_parts};
  for (const Bucket& bucket : buckets) {
    report.buckets.push_back({.key = bucket.length,
                              .batch_size = bucket.batch_size,
                              .samples = bucket.sentences,
                              .batches = bucket.batches});
  }
  std::string text = report.ToString("sentence");
  if (split > 0) {
    absl::StrAppend(&text, "  ", split, split == 1 ? " sentence is" : " sentences are",
                    " too long and split: each piece counts as one\n");
  }
  return text;
}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> BucketSentenceIter::Create(
    absl::Span<const std::vector<int>> sentences, int64_t batch_size, Options options) {
  if (options.layout != "NT" && options.layout != "TN") {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: layout is '", options.layout,
                     "', expected 'NT' (batch major) or 'TN' (time major)"));
  }
  BucketIterOptions bucket_options = {
      .batch_size = batch_size,
      .too_long = TooLongOf(options.too_long),
      .batch_sizes = {options.batch_sizes.begin(), options.batch_sizes.end()},
      .kind = kKind,
      .common = options.common};
  const int64_t parts =
      std::max<int64_t>(options.common.num_parts, 1);  // BucketIter refuses others
  if (options.max_length != 0) bucket_options.max_extents = {options.max_length};
  if (options.step_cost) {
    bucket_options.step_cost = [cost = options.step_cost](absl::Span<const int64_t> key) {
      return cost(key[0]);
    };
  }
  const bool as_mxnet = options.buckets.empty() && options.common.max_buckets == 0;
  if (as_mxnet) options.buckets = FrequentLengths(sentences, batch_size, parts);
  bucket_options.buckets.assign(options.buckets.begin(), options.buckets.end());
  const bool part_exists =
      options.common.part_index >= 0 && options.common.part_index < options.common.num_parts;
  if (as_mxnet && options.buckets.empty() && batch_size > 0 && part_exists) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: none of the lengths of ", sentences.size(),
                     " sentences occurs ", batch_size, " times (batch_size)",
                     parts > 1 ? absl::StrCat(" in each of ", parts, " parts (num_parts)") : "",
                     ", so there are no automatic buckets: give buckets, or max_buckets"));
  }

  SplitSentences pieces;
  if (options.too_long == Options::TooLong::kSplit) {
    pieces = Split(sentences, LongestBucket(options));
  }
  const bool is_split = !pieces.data.empty();
  const RaggedArray tokens =
      RaggedArray::Sequences(is_split ? absl::MakeConstSpan(pieces.data) : sentences);
  const BucketInput data = {.name = options.data_name,
                            .values = tokens,
                            .pad_value = options.invalid_label,
                            .dtype = options.dtype,
                            .layout = options.layout,
                            .length_name = options.length_name};
  BucketInput label = data;
  label.name = options.label_name;
  if (is_split) {
    label.values = RaggedArray::Sequences(absl::MakeConstSpan(pieces.label));
  } else {
    label.shift = 1;
  }
  label.length_name.clear();
  auto iter = absl::WrapUnique(new BucketSentenceIter());
  COOPER_ASSIGN_OR_RETURN(iter->iter_,
                          BucketIter::Create({data}, {label}, std::move(bucket_options)));
  iter->provide_data_ = iter->iter_->provide_data();
  iter->provide_label_ = iter->iter_->provide_label();
  DescribeAsFloat32(&iter->provide_data_, &iter->provide_label_);

  const BucketIterReport& report = iter->iter_->report();
  iter->split_ids_ = std::move(pieces.ids);
  iter->report_ = {.served = report.served,
                   .left_over = report.left_over,
                   .discarded = report.discarded,
                   .truncated = report.truncated,
                   .never_served = report.never_served,
                   .split = pieces.split,
                   .tokens = report.tokens,
                   .padded_tokens = report.padded_tokens,
                   .num_parts = report.num_parts};
  for (const BucketIterReport::Bucket& bucket : report.buckets) {
    iter->report_.buckets.push_back({.length = bucket.key.int_value(),
                                     .batch_size = bucket.batch_size,
                                     .sentences = bucket.samples,
                                     .batches = bucket.batches});
  }
  return iter;
}

absl::StatusOr<std::optional<DataBatch>> BucketSentenceIter::Next() {
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter_->Next());
  if (!batch.has_value()) return batch;
  DescribeAsFloat32(&batch->provide_data, &batch->provide_label);
  return batch;
}

absl::StatusOr<BucketShapes> BucketSentenceIter::bucket_shapes(const BucketKey& key) const {
  COOPER_ASSIGN_OR_RETURN(BucketShapes shapes, iter_->bucket_shapes(key));
  DescribeAsFloat32(&shapes.data_shapes, &shapes.label_shapes);
  return shapes;
}

}  // namespace cooper
