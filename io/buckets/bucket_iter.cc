#include "io/buckets/bucket_iter.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "io/batch/key_values.h"
#include "io/batch/padded_copy.h"
#include "io/batch/reserve_ids.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

std::string BucketIterReport::ToString(absl::string_view noun) const {
  std::string text;
  for (const Bucket& bucket : buckets) {
    absl::StrAppendFormat(&text, "bucket %s: %d %ss, %d batches of %d", bucket.key.ToString(),
                          bucket.samples, noun, bucket.batches, bucket.batch_size);
    if (num_parts > 1) absl::StrAppendFormat(&text, " in each of %d parts", num_parts);
    text += '\n';
  }
  const double padding =
      padded_tokens == 0 ? 0 : 100 * (1 - static_cast<double>(tokens) / padded_tokens);
  absl::StrAppendFormat(&text,
                        "%d %ss served, %d left over, %d discarded, %d truncated; "
                        "%d tokens in all, %.1f %% padding\n",
                        served, noun, left_over, discarded, truncated, tokens, padding);
  // Reports the samples that come in no epoch although a bucket holds them.
  if (never_served > discarded) {
    absl::StrAppendFormat(&text, "%d of those left over in no epoch\n", never_served - discarded);
  }
  return text;
}

int64_t BucketIter::LengthOf(const Input& input, const Shape& extents, int64_t id) const {
  const int axis = input.length_axis;
  const int64_t kept = std::min(input.spec.values.extent(id, axis), extents[axis]);
  return std::max<int64_t>(0, kept - (axis == 0 ? input.spec.shift : 0));
}

int64_t BucketIter::RowTokens(const Bucket& bucket) const {
  int64_t row_tokens = 0;
  for (size_t i = 0; i < num_data_; ++i) {
    const std::vector<char>& is_counted = inputs_[i].is_counted;
    if (std::find(is_counted.begin(), is_counted.end(), true) == is_counted.end()) continue;
    int64_t tokens = 1;
    for (size_t a = 0; a < is_counted.size(); ++a) {
      if (is_counted[a]) tokens *= bucket.extents[i][static_cast<int>(a)];
    }
    row_tokens += tokens;
  }
  return row_tokens;
}

void BucketIter::CountTokens(absl::Span<const int64_t> ids, const Bucket& bucket) {
  for (size_t i = 0; i < num_data_; ++i) {
    const Input& input = inputs_[i];
    const Shape& extents = bucket.extents[i];
    std::vector<int> axes;
    for (int a = 0; a < extents.rank(); ++a) {
      if (input.is_counted[a]) axes.push_back(a);
    }
    if (axes.empty()) continue;
    for (int64_t id : ids) {
      int64_t tokens = 1;
      for (int a : axes) tokens *= std::min(input.spec.values.extent(id, a), extents[a]);
      report_.tokens += tokens;
    }
  }
  report_.padded_tokens += RowTokens(bucket) * static_cast<int64_t>(ids.size());
}

absl::StatusOr<std::vector<int64_t>> BucketIter::LengthsToSortBy(
    const Bucket& bucket, absl::Span<const int64_t> ids) const {
  std::vector<int64_t> lengths;
  if (options_.common.sort_batches == 0) return lengths;
  if (inputs_[0].length_axis < 0) {
    return Error(absl::StrCat("sort_batches: numbers such as '", inputs_[0].spec.name,
                              "' have no length to sort by"));
  }
  lengths.reserve(ids.size());
  for (int64_t id : ids) lengths.push_back(LengthOf(inputs_[0], bucket.extents[0], id));
  return lengths;
}

absl::StatusOr<NDArray> BucketIter::MakeArray(const Input& input, const DataDesc& desc,
                                              const Shape& extents,
                                              absl::Span<const int64_t> ids) const {
  COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(desc.shape, desc.dtype));
  COOPER_RETURN_IF_ERROR(array.Fill(input.spec.pad_value));
  std::vector<int64_t> strides;
  for (int a = 0; a < desc.shape.rank(); ++a) {
    strides.push_back(desc.shape.Product(a + 1, desc.shape.rank()));
  }
  const int64_t row_bytes = strides[input.batch_axis] * SizeOf(desc.dtype);
  strides.erase(strides.begin() + input.batch_axis);
  PaddedRow row = {.extents = extents.dims(), .strides = absl::MakeConstSpan(strides)};
  const RaggedArray& values = input.spec.values;
  const PaddedCopy copy(values.dtype(), desc.dtype);
  const int64_t shift = input.spec.shift;
  for (size_t r = 0; r < ids.size(); ++r) {
    row.data = static_cast<char*>(array.raw_data()) + static_cast<int64_t>(r) * row_bytes;
    if (values.rank() == 1) {
      copy.Sequence(values.data(ids[r]), values.extent(ids[r], 0), shift, row);
    } else {
      copy(values.data(ids[r]), values.shape(ids[r]), shift, row);
    }
  }
  return array;
}

absl::StatusOr<std::optional<DataBatch>> BucketIter::Next() {
  if (order_.AtEnd()) return std::nullopt;
  const BucketOrder::Batch rows = order_.Current();
  const Bucket& bucket = buckets_[rows.bucket];
  const auto num_ids = static_cast<int64_t>(rows.ids.size());
  const bool smaller = options_.common.last_batch == BucketIterOptions::LastBatch::kSmaller;
  const int64_t batch_size = smaller ? num_ids : BatchSize(rows.bucket);

  DataBatch batch;
  COOPER_RETURN_IF_ERROR(ReserveIds(options_.kind, batch_size, &batch.index));
  batch.pad = batch_size - num_ids;
  batch.bucket_key = bucket.key;
  batch.provide_data = bucket.data;
  batch.provide_label = bucket.label;
  size_t length_desc = num_data_;
  std::vector<NDArray> lengths;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const bool is_data = i < num_data_;
    DataDesc& desc = is_data ? batch.provide_data[i] : batch.provide_label[i - num_data_];
    desc.shape[input.batch_axis] = batch_size;
    COOPER_ASSIGN_OR_RETURN(NDArray array, MakeArray(input, desc, bucket.extents[i], rows.ids));
    (is_data ? batch.data : batch.label).push_back(std::move(array));
    if (i == 0 && input.is_sequence()) {
      COOPER_RETURN_IF_ERROR(ReserveIds(options_.kind, batch_size, &batch.lengths));
      for (int64_t id : rows.ids) batch.lengths.push_back(LengthOf(input, bucket.extents[i], id));
      batch.lengths.resize(static_cast<size_t>(batch_size), 0);
    }
    if (input.spec.length_name.empty()) continue;
    DataDesc& length = batch.provide_data[length_desc++];
    length.shape[0] = batch_size;
    COOPER_ASSIGN_OR_RETURN(NDArray column, NDArray::Zeros(length.shape, length.dtype));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> elements, column.Data<float>());
    for (size_t r = 0; r < rows.ids.size(); ++r) {
      elements[r] = static_cast<float>(LengthOf(input, bucket.extents[i], rows.ids[r]));
    }
    lengths.push_back(std::move(column));
  }
  // Allocated after the arrays, whose allocation fails first if the batch is too large.
  batch.index.assign(rows.ids.begin(), rows.ids.end());
  batch.index.resize(static_cast<size_t>(batch_size), -1);
  batch.data.insert(batch.data.end(), lengths.begin(), lengths.end());
  order_.Advance();
  return batch;
}

absl::Status BucketIter::Reset() {
  order_.NextEpoch();
  return absl::OkStatus();
}

absl::Status BucketIter::HardReset() {
  order_.NextEpochAlone();
  return absl::OkStatus();
}

UnusedSamples BucketIter::unused_samples() const {
  UnusedSamples unused{.all = report_.served + report_.left_over + report_.discarded,
                       .never = report_.never_served,
                       .this_epoch = report_.discarded};
  for (size_t b = 0; b < buckets_.size(); ++b) {
    unused.this_epoch += order_.NumLeftOver(static_cast<int>(b));
  }
  const int64_t left_over = unused.this_epoch - report_.discarded;
  if (options_.common.last_batch == BucketIterOptions::LastBatch::kRollOver) {
    unused.rolled_over = left_over;
  }
  std::vector<std::string> why;
  if (report_.discarded > 0) {
    why.push_back(absl::StrCat(report_.discarded,
                               " that no bucket holds: a larger bucket does, or ",
                               "too_long kTruncate cuts them"));
  }
  if (left_over > 0) {
    const int64_t never = report_.never_served - report_.discarded;
    why.push_back(absl::StrCat(left_over, " that fill no batch of their bucket in this epoch",
                               never > 0 ? absl::StrCat(", ", never, " of them in any") : "",
                               ": last_batch kPad or kSmaller serves them"));
  }
  unused.why = absl::StrJoin(why, "; ");
  return unused;
}

std::optional<double> BucketIter::invalid_label(absl::string_view input) const {
  for (const Input& own : inputs_) {
    if (own.spec.name == input) return own.spec.pad_value;
  }
  return std::nullopt;
}

std::vector<BucketKey> BucketIter::bucket_keys() const {
  std::vector<BucketKey> keys;
  for (const Bucket& bucket : buckets_) keys.push_back(bucket.key);
  return keys;
}

absl::StatusOr<BucketShapes> BucketIter::bucket_shapes(const BucketKey& key) const {
  const auto shapes = [&key](const Bucket& bucket) -> BucketShapes {
    return {.key = key, .data_shapes = bucket.data, .label_shapes = bucket.label};
  };
  for (const Bucket& bucket : buckets_) {
    if (bucket.key == key) return shapes(bucket);
  }
  const std::vector<BucketKey>& given = options_.buckets;
  if (std::find(given.begin(), given.end(), key) == given.end()) {
    return absl::NotFoundError(
        absl::StrCat(options_.kind, ": there is no bucket ", key.ToString()));
  }
  std::vector<int64_t> all(static_cast<size_t>(inputs_[0].spec.values.size()));
  std::iota(all.begin(), all.end(), 0);
  COOPER_ASSIGN_OR_RETURN(const Bucket empty, MakeBucket(key, all));
  return shapes(empty);
}

absl::StatusOr<std::string> BucketIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", options_.kind);
  order_.SaveTo(report_.tokens, &state);
  return state.ToString();
}

absl::Status BucketIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", options_.kind));
  return order_.LoadFrom(options_.kind, report_.tokens, state);
}

}  // namespace cooper
