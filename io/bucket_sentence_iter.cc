#include "io/bucket_sentence_iter.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "io/key_values.h"
#include "ndarray/random.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "BucketSentenceIter";
// Keeps the streams of this iterator apart from those of other users of a seed.
constexpr uint64_t kStreamBase = uint64_t{0xB5} << 56;

using Options = BucketSentenceIterOptions;

// The automatic buckets: of them each part fills a batch, so that all parts have the same. Length 0
// is left out: it would be a bucket of empty arrays.
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

}  // namespace

std::string BucketSentenceIterReport::ToString() const {
  std::string text;
  for (const Bucket& bucket : buckets) {
    absl::StrAppendFormat(&text, "bucket %d: %d sentences, %d batches of %d", bucket.length,
                          bucket.sentences, bucket.batches, bucket.batch_size);
    if (num_parts > 1) absl::StrAppendFormat(&text, " in each of %d parts", num_parts);
    text += '\n';
  }
  const double padding =
      padded_tokens == 0 ? 0 : 100 * (1 - static_cast<double>(tokens) / padded_tokens);
  absl::StrAppendFormat(&text,
                        "%d sentences served, %d left over, %d discarded, %d truncated; "
                        "%d tokens in all, %.1f %% padding\n",
                        served, left_over, discarded, truncated, tokens, padding);
  return text;
}

BucketSentenceIter::BucketSentenceIter(int64_t batch_size, Options options)
    : batch_size_(batch_size), options_(std::move(options)), seed_(options_.seed) {}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> BucketSentenceIter::Create(
    absl::Span<const std::vector<int>> sentences, int64_t batch_size, Options options) {
  if (batch_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: batch_size is ", batch_size, ", expected at least 1"));
  }
  auto iter = absl::WrapUnique(new BucketSentenceIter(batch_size, std::move(options)));
  COOPER_RETURN_IF_ERROR(iter->CheckParts());
  COOPER_RETURN_IF_ERROR(iter->Fill(sentences));
  iter->StartEpoch();
  return iter;
}

absl::Status BucketSentenceIter::CheckParts() const {
  const int64_t index = options_.part_index;
  const int64_t parts = options_.num_parts;
  if (parts < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: num_parts is ", parts, ", expected at least 1"));
  }
  if (index < 0 || index >= parts) {
    return absl::InvalidArgumentError(absl::StrCat("BucketSentenceIter: part_index is ", index,
                                                   ", not in [0, ", parts, "), num_parts being ",
                                                   parts));
  }
  return absl::OkStatus();
}

absl::Status BucketSentenceIter::Fill(absl::Span<const std::vector<int>> sentences) {
  if (options_.layout != "NT" && options_.layout != "TN") {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: layout is '", options_.layout,
                     "', expected 'NT' (batch major) or 'TN' (time major)"));
  }
  time_major_ = options_.layout == "TN";

  std::vector<int64_t> lengths = options_.buckets;
  const int64_t parts = options_.num_parts;
  if (lengths.empty()) lengths = FrequentLengths(sentences, batch_size_, parts);
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  if (lengths.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: none of the lengths of ", sentences.size(),
                     " sentences occurs ", batch_size_, " times (batch_size)",
                     parts > 1 ? absl::StrCat(" in each of ", parts, " parts (num_parts)") : "",
                     ", so there are no automatic buckets: give buckets"));
  }
  if (lengths.front() < 1) {
    return absl::InvalidArgumentError(absl::StrCat("BucketSentenceIter: bucket ", lengths.front(),
                                                   ", expected lengths of at least 1"));
  }
  for (int64_t length : lengths) {
    const int64_t batch_size = BatchSizeOf(length);
    if (batch_size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("BucketSentenceIter: the batch size of bucket ", length, " is ", batch_size,
                       ", expected at least 1"));
    }
    if (batch_size > std::numeric_limits<int64_t>::max() / parts) {
      return absl::InvalidArgumentError(
          absl::StrCat("BucketSentenceIter: the batch size of bucket ", length, " is ", batch_size,
                       ", too large for ", parts, " parts (num_parts)"));
    }
    buckets_.push_back({.length = length, .batch_size = batch_size});
  }

  offsets_.push_back(0);
  for (size_t id = 0; id < sentences.size(); ++id) {
    const std::vector<int>& sentence = sentences[id];
    auto length = static_cast<int64_t>(sentence.size());
    auto bucket = std::lower_bound(lengths.begin(), lengths.end(), length) - lengths.begin();
    if (bucket == static_cast<int64_t>(lengths.size())) {
      if (options_.too_long == Options::TooLong::kDiscard) {
        ++report_.discarded;
        offsets_.push_back(offsets_.back());
        continue;
      }
      ++report_.truncated;
      length = lengths.back();
      --bucket;
    }
    tokens_.insert(tokens_.end(), sentence.begin(), sentence.begin() + length);
    offsets_.push_back(static_cast<int64_t>(tokens_.size()));
    buckets_[bucket].ids.push_back(static_cast<int64_t>(id));
    report_.padded_tokens += lengths[bucket];
  }
  report_.tokens = static_cast<int64_t>(tokens_.size());
  report_.num_parts = parts;

  // An empty bucket would promise batches of a size that never comes.
  buckets_.erase(std::remove_if(buckets_.begin(), buckets_.end(),
                                [](const Bucket& bucket) { return bucket.ids.empty(); }),
                 buckets_.end());
  if (buckets_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketSentenceIter: all of ", sentences.size(),
                     " sentences are longer than the largest bucket, ", lengths.back()));
  }

  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    bucket.order = bucket.ids;
    const auto size = static_cast<int64_t>(bucket.ids.size());
    const bool pad = options_.last_batch == Options::LastBatch::kPad;
    const int64_t rows = StepSize(bucket);
    const int64_t batches = size / rows + (pad && size % rows > 0 ? 1 : 0);
    for (int64_t i = 0; i < batches; ++i) {
      starts_.push_back({.bucket = static_cast<int>(b), .row = i * rows});
    }
    const int64_t served = pad ? size : batches * rows;
    report_.served += served;
    report_.left_over += size - served;
    report_.buckets.push_back({.length = bucket.length,
                               .batch_size = bucket.batch_size,
                               .sentences = size,
                               .batches = batches});
  }

  const Shape shape = BatchShape(buckets_.back());
  provide_data_ = {{.name = options_.data_name, .shape = shape, .layout = options_.layout}};
  provide_label_ = {{.name = options_.label_name, .shape = shape, .layout = options_.layout}};
  return absl::OkStatus();
}

void BucketSentenceIter::StartEpoch() {
  cursor_ = 0;
  order_ = starts_;
  if (!options_.shuffle) return;
  RandomGenerator random(seed_, kStreamBase + epoch_);
  random.Shuffle(order_);
  for (Bucket& bucket : buckets_) {
    // From the sentences' own order, not the last epoch's, so that no history need be saved.
    bucket.order = bucket.ids;
    random.Shuffle(bucket.order);
  }
}

absl::Status BucketSentenceIter::Reset() {
  ++epoch_;
  StartEpoch();
  return absl::OkStatus();
}

int64_t BucketSentenceIter::BatchSizeOf(int64_t length) const {
  const auto it = options_.batch_sizes.find(length);
  if (it != options_.batch_sizes.end()) return it->second;
  if (options_.tokens_per_batch <= 0) return batch_size_;
  return std::max<int64_t>(1, options_.tokens_per_batch / length);
}

Shape BucketSentenceIter::BatchShape(const Bucket& bucket) const {
  return time_major_ ? Shape{bucket.length, bucket.batch_size}
                     : Shape{bucket.batch_size, bucket.length};
}

absl::Span<const int> BucketSentenceIter::Sentence(int64_t id) const {
  return absl::MakeConstSpan(tokens_).subspan(static_cast<size_t>(offsets_[id]),
                                              static_cast<size_t>(offsets_[id + 1] - offsets_[id]));
}

template <typename T>
absl::StatusOr<DataBatch> BucketSentenceIter::MakeBatch(const BatchStart& start) const {
  const Bucket& bucket = buckets_[start.bucket];
  const Shape shape = BatchShape(bucket);
  COOPER_ASSIGN_OR_RETURN(NDArray data, NDArray::Empty(shape, options_.dtype));
  COOPER_ASSIGN_OR_RETURN(NDArray label, NDArray::Empty(shape, options_.dtype));
  COOPER_RETURN_IF_ERROR(data.Fill(options_.invalid_label));
  COOPER_RETURN_IF_ERROR(label.Fill(options_.invalid_label));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<T> data_out, data.Data<T>());
  COOPER_ASSIGN_OR_RETURN(const absl::Span<T> label_out, label.Data<T>());

  DataBatch batch;
  batch.index.assign(static_cast<size_t>(bucket.batch_size), -1);
  batch.lengths.assign(static_cast<size_t>(bucket.batch_size), 0);
  const int64_t first = start.row + options_.part_index * bucket.batch_size;
  const auto available = static_cast<int64_t>(bucket.order.size()) - first;
  const int64_t rows = std::clamp<int64_t>(available, 0, bucket.batch_size);
  const int64_t row_stride = time_major_ ? 1 : bucket.length;
  const int64_t time_stride = time_major_ ? bucket.batch_size : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t id = bucket.order[first + row];
    const absl::Span<const int> sentence = Sentence(id);
    for (size_t t = 0; t < sentence.size(); ++t) {
      const T token = ConvertElement<T>(sentence[t]);
      const int64_t at = row * row_stride + static_cast<int64_t>(t) * time_stride;
      data_out[at] = token;
      if (t > 0) label_out[at - time_stride] = token;
    }
    batch.index[row] = id;
    batch.lengths[row] = static_cast<int64_t>(sentence.size());
  }
  batch.data = {std::move(data)};
  batch.label = {std::move(label)};
  batch.pad = bucket.batch_size - rows;
  batch.bucket_key = BucketKey(bucket.length);
  batch.provide_data = provide_data_;
  batch.provide_data[0].shape = shape;
  batch.provide_label = provide_label_;
  batch.provide_label[0].shape = shape;
  return batch;
}

absl::StatusOr<std::optional<DataBatch>> BucketSentenceIter::Next() {
  if (cursor_ == num_batches()) return std::nullopt;
  absl::StatusOr<DataBatch> batch = DispatchDType(options_.dtype, [this](auto tag) {
    return MakeBatch<typename decltype(tag)::type>(order_[cursor_]);
  });
  if (!batch.ok()) return batch.status();
  ++cursor_;
  return *std::move(batch);
}

std::optional<BucketKey> BucketSentenceIter::default_bucket_key() const {
  return BucketKey(buckets_.back().length);
}

std::vector<BucketKey> BucketSentenceIter::bucket_keys() const {
  std::vector<BucketKey> keys;
  for (const Bucket& bucket : buckets_) keys.emplace_back(bucket.length);
  return keys;
}

absl::StatusOr<std::string> BucketSentenceIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetUint("seed", seed_);
  state.SetUint("epoch", epoch_);
  state.SetInt("cursor", cursor_);
  // To notice another part, other data or other options.
  state.SetInt("part_index", options_.part_index);
  state.SetInt("num_parts", options_.num_parts);
  state.SetInt("batches", num_batches());
  state.SetInt("tokens", report_.tokens);
  return state.ToString();
}

absl::Status BucketSentenceIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t cursor, state.GetInt("cursor"));
  COOPER_ASSIGN_OR_RETURN(const int64_t batches, state.GetInt("batches"));
  COOPER_ASSIGN_OR_RETURN(const int64_t tokens, state.GetInt("tokens"));
  // States from before there were parts are of all sentences.
  int64_t part_index = 0;
  int64_t num_parts = 1;
  if (state.Has("num_parts")) {
    COOPER_ASSIGN_OR_RETURN(part_index, state.GetInt("part_index"));
    COOPER_ASSIGN_OR_RETURN(num_parts, state.GetInt("num_parts"));
  }
  if (part_index != options_.part_index || num_parts != options_.num_parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "BucketSentenceIter: the state is of part_index ", part_index, " of num_parts ", num_parts,
        ", this iterator has ", options_.part_index, " of ", options_.num_parts));
  }
  if (batches != num_batches() || tokens != report_.tokens) {
    return absl::InvalidArgumentError(absl::StrCat(
        "BucketSentenceIter: the state is of ", batches, " batches and ", tokens,
        " tokens an epoch, this iterator has ", num_batches(), " and ", report_.tokens));
  }
  if (cursor < 0 || cursor > batches) {
    return absl::InvalidArgumentError(absl::StrCat("BucketSentenceIter: state 'cursor' is ", cursor,
                                                   ", not in [0, ", batches, "]"));
  }
  seed_ = seed;
  epoch_ = epoch;
  StartEpoch();
  cursor_ = cursor;
  return absl::OkStatus();
}

}  // namespace cooper
