// Creates a BucketIter from inputs and options that bucket_iter_check.cc has accepted. Its
// iteration is in bucket_iter.cc.

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "io/buckets/bucket_assignment.h"
#include "io/buckets/bucket_choice.h"
#include "io/buckets/bucket_iter.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Options = BucketIterOptions;

BucketOrderOptions::Remainder RemainderOf(Options::LastBatch last_batch) {
  switch (last_batch) {
    case Options::LastBatch::kDiscard:
      return BucketOrderOptions::Remainder::kLeaveOut;
    case Options::LastBatch::kRollOver:
      return BucketOrderOptions::Remainder::kRollOver;
    case Options::LastBatch::kPad:
    case Options::LastBatch::kSmaller:
      break;
  }
  return BucketOrderOptions::Remainder::kServe;
}

// Returns the minimum number of samples of a bucket, so that it fills a step.
int64_t MinSamples(const Options& options) {
  if (options.common.last_batch != Options::LastBatch::kDiscard ||
      options.common.tokens_per_batch > 0)
    return 1;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return options.batch_size > kMax / options.common.num_parts
             ? kMax
             : options.batch_size * options.common.num_parts;
}

Shape WithBatch(Shape extents, int batch_axis, int64_t batch_size) {
  extents.insert(batch_axis, batch_size);
  return extents;
}

bool SameInAllSamples(const RaggedArray& values, int axis) {
  if (values.is_rows()) return true;
  for (int64_t i = 1; i < values.size(); ++i) {
    if (values.extent(i, axis) != values.extent(0, axis)) return false;
  }
  return true;
}

}  // namespace

BucketIter::BucketIter(std::vector<BucketInput> data, std::vector<BucketInput> label,
                       Options options)
    : options_(std::move(options)), num_data_(data.size()) {
  for (std::vector<BucketInput>* inputs : {&data, &label}) {
    for (BucketInput& input : *inputs) inputs_.push_back({.spec = std::move(input)});
  }
}

absl::StatusOr<std::unique_ptr<BucketIter>> BucketIter::Create(std::vector<BucketInput> data,
                                                               std::vector<BucketInput> label,
                                                               Options options) {
  auto iter =
      absl::WrapUnique(new BucketIter(std::move(data), std::move(label), std::move(options)));
  COOPER_RETURN_IF_ERROR(iter->CheckOptions());
  COOPER_RETURN_IF_ERROR(iter->CheckInputs());
  COOPER_RETURN_IF_ERROR(iter->Fill());
  iter->options_.key = nullptr;  // may refer to objects that are destroyed later
  iter->options_.step_cost = nullptr;
  return iter;
}

absl::Status BucketIter::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(options_.kind, ": ", what));
}

absl::Status BucketIter::FindAxes(bool keys_are_strings) {
  for (Input& input : inputs_) {
    const RaggedArray& values = input.spec.values;
    const int rank = values.rank();
    input.pad_to = input.spec.pad_to;
    if (input.pad_to.empty() && !keys_are_strings && !values.is_rows()) {
      if (rank > 2) {
        return Error(absl::StrCat("input '", input.spec.name, "': say with pad_to which of the ",
                                  rank, " axes follow the key, {kFree} if none does"));
      }
      if (rank > 0) input.pad_to = {0};
    }
    input.pad_to.resize(static_cast<size_t>(rank), kFree);
    int follows = -1, varies = -1;
    for (int a = rank - 1; a >= 0; --a) {
      const bool keyed = input.pad_to[a] != kFree;
      const bool counted = keyed || !SameInAllSamples(values, a);
      input.is_counted.insert(input.is_counted.begin(), counted);
      if (keyed) follows = a;
      if (counted) varies = a;
    }
    input.length_axis = follows >= 0 ? follows : varies >= 0 ? varies : rank > 0 ? 0 : -1;
  }
  return absl::OkStatus();
}

absl::Status BucketIter::Fill() {
  const int64_t num_samples = inputs_[0].spec.values.size();
  if (num_samples == 0) return Error("there are no samples");
  std::vector<std::optional<BucketKey>> keys;  // by sample, if there is a function
  for (int64_t i = 0; i < num_samples && options_.key != nullptr; ++i) {
    keys.push_back(options_.key(i));
  }
  const auto first =
      std::find_if(keys.begin(), keys.end(), [](const auto& key) { return key.has_value(); });
  if (options_.key != nullptr && first == keys.end()) {
    return Error(absl::StrCat("none of ", num_samples, " samples has a bucket (key)"));
  }
  // All keys are of one kind, so the first one determines it.
  COOPER_RETURN_IF_ERROR(FindAxes(options_.key != nullptr ? (*first)->is_string()
                                                          : !options_.buckets.empty() &&
                                                                options_.buckets[0].is_string()));

  std::vector<KeyedArray> arrays;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    arrays.push_back({.name = input.spec.name,
                      .values = input.spec.values,
                      .pad_to = input.pad_to,
                      .is_data = i < num_data_});
  }
  const bool truncate = options_.too_long == Options::TooLong::kTruncate;
  KeyCost cost;  // by which the buckets are chosen; null: not chosen
  if (options_.common.max_buckets > 0) {
    const BucketChoice choice = {.max_buckets = options_.common.max_buckets,
                                 .bucket_cost = options_.common.bucket_cost,
                                 .step_cost = options_.step_cost,
                                 .multiple_of = options_.common.multiple_of,
                                 .max_extents = options_.max_extents,
                                 .truncate = truncate,
                                 .min_samples = MinSamples(options_)};
    absl::StatusOr<std::vector<BucketKey>> chosen = ChooseKeys(arrays, num_samples, choice);
    if (!chosen.ok()) return Error(chosen.status().message());
    options_.buckets = *std::move(chosen);
    cost = CostOfKeys(arrays, num_samples, choice);
  }
  absl::StatusOr<BucketAssignment> assigned =
      options_.key != nullptr
          ? AssignByKey(arrays, keys, truncate)
          : AssignToBuckets(arrays, num_samples, options_.buckets, truncate, cost);
  if (!assigned.ok()) return Error(assigned.status().message());
  if (options_.too_long == Options::TooLong::kError && options_.key == nullptr &&
      assigned->discarded > 0) {
    return TooLongError(*assigned);
  }

  report_.num_parts = options_.common.num_parts;
  report_.discarded = assigned->discarded;
  report_.never_served = assigned->discarded;
  report_.truncated = assigned->truncated;
  std::vector<BucketOrder::Bucket> order;
  double largest = -1;
  for (BucketAssignment::Bucket& assigned_bucket : assigned->buckets) {
    COOPER_ASSIGN_OR_RETURN(Bucket bucket, MakeBucket(assigned_bucket.key, assigned_bucket.ids));
    CountTokens(assigned_bucket.ids, bucket);
    double elements = 0;
    for (const Shape& extents : bucket.extents) {
      double product = 1;
      for (int64_t extent : extents) product *= static_cast<double>(extent);
      elements += product;
    }
    if (elements >= largest) {
      largest = elements;
      default_bucket_ = static_cast<int>(buckets_.size());
    }
    COOPER_ASSIGN_OR_RETURN(std::vector<int64_t> lengths,
                            LengthsToSortBy(bucket, assigned_bucket.ids));
    order.push_back({.batch_size = bucket.batch_size,
                     .ids = std::move(assigned_bucket.ids),
                     .lengths = std::move(lengths)});
    buckets_.push_back(std::move(bucket));
  }
  order_ = BucketOrder(std::move(order), {.remainder = RemainderOf(options_.common.last_batch),
                                          .shuffle = options_.common.shuffle,
                                          .seed = options_.common.seed,
                                          .sort_batches = options_.common.sort_batches,
                                          .part_index = options_.common.part_index,
                                          .num_parts = options_.common.num_parts});
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const auto samples = static_cast<int64_t>(order_.buckets()[b].ids.size());
    const int64_t served = order_.NumServed(static_cast<int>(b));
    report_.served += served;
    report_.left_over += samples - served;
    const bool always_the_same = served == 0 || !options_.common.shuffle;
    if (options_.common.last_batch == Options::LastBatch::kDiscard && always_the_same) {
      report_.never_served += samples - served;
    }
    report_.buckets.push_back({.key = buckets_[b].key,
                               .batch_size = BatchSize(static_cast<int>(b)),
                               .samples = samples,
                               .batches = order_.NumBatches(static_cast<int>(b))});
  }
  return absl::OkStatus();
}

absl::Status BucketIter::TooLongError(const BucketAssignment& assigned) const {
  std::vector<std::string> shapes;
  for (const Input& input : inputs_) {
    shapes.push_back(absl::StrCat("'", input.spec.name, "' ",
                                  input.spec.values.shape(assigned.first_discarded).ToString()));
  }
  return Error(absl::StrCat(
      "no bucket holds sample ", assigned.first_discarded, ", ", absl::StrJoin(shapes, ", "),
      ", nor ", assigned.discarded - 1, " others (too_long is kError); the largest bucket is ",
      std::max_element(options_.buckets.begin(), options_.buckets.end())->ToString()));
}

absl::StatusOr<BucketIter::Bucket> BucketIter::MakeBucket(const BucketKey& key,
                                                          absl::Span<const int64_t> ids) const {
  Bucket bucket = {.key = key};
  COOPER_RETURN_IF_ERROR(FindExtents(ids, &bucket));
  COOPER_ASSIGN_OR_RETURN(bucket.batch_size, BatchSizeOf(key, RowTokens(bucket)));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    (i < num_data_ ? bucket.data : bucket.label)
        .push_back({.name = input.spec.name,
                    .shape = WithBatch(bucket.extents[i], input.batch_axis, bucket.batch_size),
                    .dtype = input.spec.dtype,
                    .layout = input.spec.layout});
  }
  for (const Input& input : inputs_) {
    if (input.spec.length_name.empty()) continue;
    bucket.data.push_back(
        {.name = input.spec.length_name, .shape = {bucket.batch_size}, .layout = "N"});
  }
  return bucket;
}

absl::Status BucketIter::FindExtents(absl::Span<const int64_t> ids, Bucket* bucket) const {
  const BucketKey::Tuple elements = KeyElements(bucket->key);
  for (const Input& input : inputs_) {
    const RaggedArray& values = input.spec.values;
    Shape extents = values.shape(ids[0]);
    for (int a = 0; a < extents.rank(); ++a) {
      if (input.pad_to[a] != kFree) {
        extents[a] = elements[input.pad_to[a]];
      } else if (input.is_counted[a]) {
        for (int64_t id : ids) extents[a] = std::max(extents[a], values.extent(id, a));
      }
    }
    // Ensures that no count of elements overflows.
    const auto all = Shape::Create(WithBatch(extents, 0, values.size()).dims());
    if (!all.ok()) {
      return Error(absl::StrCat("bucket ", bucket->key.ToString(), ": ", all.status().message()));
    }
    bucket->extents.push_back(std::move(extents));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BucketIter::BatchSizeOf(const BucketKey& key, int64_t row_tokens) const {
  int64_t batch_size = options_.batch_size;
  if (const auto it = options_.batch_sizes.find(key); it != options_.batch_sizes.end()) {
    batch_size = it->second;
  } else if (options_.common.tokens_per_batch > 0 && row_tokens > 0) {
    batch_size = std::max<int64_t>(1, options_.common.tokens_per_batch / row_tokens);
  }
  const char* wrong = batch_size < 1 ? ", expected at least 1" : nullptr;
  const std::string too_large =
      absl::StrCat(", too large for ", options_.common.num_parts, " parts (num_parts)");
  if (batch_size > std::numeric_limits<int64_t>::max() / options_.common.num_parts) {
    wrong = too_large.c_str();
  }
  if (wrong == nullptr) return batch_size;
  return Error(
      absl::StrCat("the batch size of bucket ", key.ToString(), " is ", batch_size, wrong));
}

}  // namespace cooper
