// Checks the options of a BucketStream and chooses its buckets.

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "io/batch/invalid.h"
#include "io/buckets/bucket_assignment.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_tuples.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Options = BucketStreamOptions;

// Limits of numbers that are combined in one: a row's id (StreamBatcher::Make), a random stream.
constexpr int64_t kMaxShards = int64_t{1} << 23;
constexpr int64_t kMaxParts = int64_t{1} << 20;

constexpr int kMaxKeyElement = 15;

// The shards whose first samples decide about buckets: more would take time to open.
constexpr int64_t kChoiceShards = 16;
// More than any source has; its product with kChoiceShards is an int64_t.
constexpr double kMaxChoiceSamples = 1e15;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return Invalid("BucketStream: ", parts...);
}

absl::Status CheckNumbers(const Options& options) {
  const struct {
    const char* name;
    int64_t value;
    int64_t least;
  } numbers[] = {
      {"batch_size", options.batch_size, 1},
      {"choice_samples", options.choice_samples, 1},
      {"pool_samples", options.pool_samples, 1},
      {"pool_bytes", options.pool_bytes, 0},
      {"agree_batches", options.agree_batches, 1},
      {"epoch_samples", options.epoch_samples, 0},
      {"tokens_per_batch", options.common.tokens_per_batch, 0},
      {"sort_batches", options.common.sort_batches, 0},
      {"num_parts", options.common.num_parts, 1},
      {"max_buckets", options.common.max_buckets, 0},
  };
  for (const auto& [name, value, least] : numbers) {
    if (value < least) return Error(name, " is ", value, ", expected at least ", least);
  }
  for (const auto& [key, size] : options.batch_sizes) {
    if (size < 1) {
      return Error("batch_sizes of ", key.ToString(), " is ", size, ", expected at least 1");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const Options& options, const MixedSource& source) {
  COOPER_RETURN_IF_ERROR(CheckNumbers(options));
  const CommonBucketOptions& common = options.common;
  if (common.part_index < 0 || common.part_index >= common.num_parts) {
    return Error("part_index is ", common.part_index, ", not in [0, ", common.num_parts,
                 "), num_parts being ", common.num_parts);
  }
  if (common.num_parts > kMaxParts || source.num_shards() > kMaxShards) {
    return Error("there are ", common.num_parts, " parts and ", source.num_shards(),
                 " shards, expected at most ", kMaxParts, " and ", kMaxShards);
  }
  if (common.num_parts > 1 && options.all_gather == nullptr) {
    return Error("num_parts is ", common.num_parts,
                 ", but all_gather is not given, by which parts agree on their steps");
  }
  if (common.num_parts > 1 && common.last_batch != Options::LastBatch::kPad) {
    return Error("several parts need last_batch kPad, since a part may lack samples of a step");
  }
  if (options.buckets.empty() == (common.max_buckets == 0)) {
    return Error("give either buckets or max_buckets");
  }
  const bool is_choice = common.bucket_cost != 0 || common.multiple_of != 1 ||
                         !options.max_extents.empty() || options.step_cost != nullptr ||
                         !options.lengths.empty();
  if (is_choice && common.max_buckets == 0) {
    return Error("bucket_cost, step_cost, multiple_of, max_extents and lengths need max_buckets");
  }
  int rank = 1;
  for (const SampleField& field : source.fields()) {
    rank = std::max(rank, field.pad_to + 1);
    if (field.pad_to < 0 || field.pad_to > kMaxKeyElement) {
      return Error("pad_to of a field is ", field.pad_to, ", expected 0 to ", kMaxKeyElement);
    }
    if (field.pad_to > 0 && options.too_long == Options::TooLong::kSplit) {
      return Error("too_long kSplit needs integer buckets, a field has pad_to ", field.pad_to);
    }
  }
  if (options.rechoose_buckets &&
      (common.max_buckets == 0 || rank > 1 || common.last_batch == Options::LastBatch::kRollOver)) {
    return Error("rechoose_buckets needs max_buckets and keys that are integers, and excludes ",
                 "kRollOver");
  }
  const size_t sources = source.parts().size();
  if ((sources > 1) != (options.epoch_samples > 0)) {
    return Error("there are ", sources, " sources and epoch_samples is ", options.epoch_samples,
                 ": several sources need it, a single one has epochs of its own");
  }
  return absl::OkStatus();
}

// Returns the elements of keys that all have the rank of the fields. `what` names a key.
absl::StatusOr<std::vector<BucketKey::Tuple>> ElementsOf(const char* what,
                                                         const std::vector<BucketKey>& keys,
                                                         int rank, int64_t least) {
  std::vector<BucketKey::Tuple> tuples;
  for (const BucketKey& key : keys) {
    const BucketKey::Tuple elements = KeyElements(key);
    if (static_cast<int>(elements.size()) != rank || key.is_tuple() != (rank > 1)) {
      return Error(what, " is ", key.ToString(), ", expected ",
                   rank == 1 ? "an integer" : absl::StrCat("a tuple of ", rank, " lengths"),
                   ", as the fields of the samples say (pad_to)");
    }
    for (const int64_t element : elements) {
      if (element >= least) continue;
      return Error(what, " is ", key.ToString(), ", expected at least ", least);
    }
    tuples.push_back(elements);
  }
  return tuples;
}

// Returns the extents of the first samples of some shards, in equal numbers as far as they have
// them.
absl::StatusOr<std::vector<BucketKey::Tuple>> FirstExtents(const SampleSource& source,
                                                           int64_t count) {
  const SamplePool pool(source.fields());
  std::vector<BucketKey::Tuple> extents;
  Sample sample;
  const int64_t shards = std::min({source.num_shards(), kChoiceShards, count});
  for (int64_t i = 0; i < shards; ++i) {
    const int64_t shard = i * source.num_shards() / shards;
    COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<ShardReader> reader, source.Open(shard));
    for (int64_t ordinal = 0; std::ssize(extents) < (i + 1) * count / shards; ++ordinal) {
      COOPER_ASSIGN_OR_RETURN(const bool more, reader->Next(&sample));
      if (!more) break;
      COOPER_ASSIGN_OR_RETURN(extents.emplace_back(),
                              AddContext(pool.ExtentsOf(sample), "BucketStream: ",
                                         source.shard_name(shard), ", sample ", ordinal));
    }
  }
  return extents;
}

// Returns the extents of the first samples of each source, as many as its weight says.
absl::StatusOr<std::vector<BucketKey::Tuple>> MixedExtents(const Options& options,
                                                           const MixedSource& source) {
  double weights = 0;
  for (const WeightedSource& part : source.parts()) weights += part.weight;
  std::vector<BucketKey::Tuple> extents;
  for (const WeightedSource& part : source.parts()) {
    const double count = std::min(
        static_cast<double>(options.choice_samples) * part.weight / weights, kMaxChoiceSamples);
    COOPER_ASSIGN_OR_RETURN(const std::vector<BucketKey::Tuple> first,
                            FirstExtents(*part.source, static_cast<int64_t>(std::ceil(count))));
    extents.insert(extents.end(), first.begin(), first.end());
  }
  return extents;
}

// Chooses buckets for samples of these extents.
absl::StatusOr<std::vector<BucketKey::Tuple>> ChooseExtents(
    const Options& options, int rank, const KeyCost& cost,
    absl::Span<const BucketKey::Tuple> extents) {
  const CommonBucketOptions& common = options.common;
  if (rank > 1) {
    COOPER_ASSIGN_OR_RETURN(BucketTuples best,
                            ChooseBucketTuples(extents, {.max_buckets = common.max_buckets,
                                                         .multiple_of = common.multiple_of,
                                                         .bucket_cost = common.bucket_cost,
                                                         .step_cost = cost,
                                                         .max_extents = options.max_extents,
                                                         .too_long = options.too_long}));
    return std::move(best.buckets);
  }
  if (options.max_extents.size() > 1) {
    return absl::InvalidArgumentError("max_extents has several elements, keys are integers");
  }
  std::vector<int64_t> lengths;
  for (const BucketKey::Tuple& sample : extents) lengths.push_back(sample[0]);
  std::function<double(int64_t)> step_cost;
  if (options.step_cost != nullptr) {
    step_cost = [&cost](int64_t n) { return cost(absl::MakeConstSpan(&n, 1)); };
  }
  COOPER_ASSIGN_OR_RETURN(
      const BucketBoundaries best,
      ChooseBuckets(lengths,
                    {.max_buckets = common.max_buckets,
                     .multiple_of = common.multiple_of,
                     .bucket_cost = common.bucket_cost,
                     .step_cost = step_cost,
                     .max_length = options.max_extents.empty() ? 0 : options.max_extents[0],
                     .too_long = options.too_long}));
  std::vector<BucketKey::Tuple> buckets;
  for (const int64_t length : best.buckets) buckets.push_back({length});
  return buckets;
}

// Returns the buckets, by rising cost of a row.
absl::StatusOr<std::vector<BucketKey::Tuple>> BucketExtents(const Options& options,
                                                            const MixedSource& source,
                                                            const StreamBatcher& batcher) {
  const int rank = SamplePool(source.fields()).key_rank();
  KeyCost cost = options.step_cost;
  if (cost == nullptr) {
    cost = [&batcher](absl::Span<const int64_t> bucket) {
      return static_cast<double>(batcher.RowTokens(bucket));
    };
  }
  std::vector<BucketKey::Tuple> buckets;
  if (options.common.max_buckets == 0) {
    COOPER_ASSIGN_OR_RETURN(buckets, ElementsOf("a bucket", options.buckets, rank, 1));
  } else {
    COOPER_ASSIGN_OR_RETURN(std::vector<BucketKey::Tuple> extents,
                            ElementsOf("one of lengths", options.lengths, rank, 0));
    if (extents.empty()) {
      COOPER_ASSIGN_OR_RETURN(extents, MixedExtents(options, source));
    }
    COOPER_ASSIGN_OR_RETURN(
        buckets, AddContext(ChooseExtents(options, rank, cost, extents), "BucketStream"));
  }
  std::sort(buckets.begin(), buckets.end(), [&cost](const auto& a, const auto& b) {
    const double own = cost(a), other = cost(b);
    return own != other ? own < other : a < b;
  });
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

// Returns the buckets with their batch sizes.
std::vector<HeldSamplesOptions::Bucket> WithBatchSizes(
    const Options& options, const StreamBatcher& batcher,
    const std::vector<BucketKey::Tuple>& buckets) {
  const int64_t tokens = options.common.tokens_per_batch;
  std::vector<HeldSamplesOptions::Bucket> sized;
  for (const BucketKey::Tuple& bucket : buckets) {
    const auto own = options.batch_sizes.find(KeyOf(bucket));
    int64_t size = options.batch_size;
    if (tokens > 0) size = std::max<int64_t>(1, tokens / batcher.RowTokens(bucket));
    if (own != options.batch_sizes.end()) size = own->second;
    sized.push_back({.extents = bucket, .batch_size = size});
  }
  return sized;
}

// Checks that some bucket has a full batch whenever the pool is full.
absl::Status CheckPool(const HeldSamplesOptions& held, const std::vector<SampleField>& fields) {
  const SamplePool pool(fields);
  double samples = 1, bytes = 0, longest = 0;
  for (const HeldSamplesOptions::Bucket& bucket : held.buckets) {
    const auto rows = static_cast<double>(bucket.batch_size);
    samples += rows - 1;
    const auto row_bytes = static_cast<double>(pool.MaxBytes(bucket.extents));
    bytes += rows * row_bytes;
    longest = std::max(longest, row_bytes);
  }
  bytes += longest;
  if (static_cast<double>(held.max_samples) < samples) {
    return Error("pool_samples is ", held.max_samples, ", expected at least ", samples,
                 ", so that some bucket has a full batch");
  }
  if (held.max_bytes > 0 && static_cast<double>(held.max_bytes) < bytes) {
    return Error("pool_bytes is ", held.max_bytes, ", expected at least ", bytes,
                 ", so that some bucket has a full batch");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BucketStream>> BucketStream::Create(
    std::shared_ptr<const SampleSource> source, StreamInputs inputs, BucketStreamOptions options) {
  return Create({{.source = std::move(source)}}, std::move(inputs), std::move(options));
}

absl::StatusOr<std::unique_ptr<BucketStream>> BucketStream::Create(
    std::vector<WeightedSource> sources, StreamInputs inputs, BucketStreamOptions options) {
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<const MixedSource> source,
                          AddContext(MixedSource::Create(std::move(sources)), "BucketStream"));
  COOPER_RETURN_IF_ERROR(cooper::CheckOptions(options, *source));
  COOPER_ASSIGN_OR_RETURN(StreamBatcher batcher,
                          StreamBatcher::Create(std::move(inputs), source->fields()));
  COOPER_ASSIGN_OR_RETURN(const std::vector<BucketKey::Tuple> buckets,
                          BucketExtents(options, *source, batcher));
  HeldSamplesOptions held = {.buckets = WithBatchSizes(options, batcher, buckets),
                             .too_long = options.too_long,
                             .max_samples = options.pool_samples,
                             .max_bytes = options.pool_bytes,
                             .shuffle = options.common.shuffle,
                             .sort_batches = options.common.sort_batches};
  COOPER_RETURN_IF_ERROR(CheckPool(held, source->fields()));
  // It may refer to objects that are destroyed later.
  if (!options.rechoose_buckets) options.step_cost = nullptr;
  return absl::WrapUnique(
      new BucketStream(std::move(source), std::move(options), std::move(batcher), std::move(held)));
}

absl::StatusOr<BucketStream::Buckets> BucketStream::ChooseAgain() const {
  KeyValues own;
  SaveLengths(&own);
  std::vector<std::string> texts = {own.ToString()};
  if (options_.common.num_parts > 1) {
    COOPER_ASSIGN_OR_RETURN(texts, GatherTexts(texts[0]));
  }
  std::map<int64_t, int64_t> counts;
  double all = 0;
  for (const std::string& text : texts) {
    COOPER_ASSIGN_OR_RETURN(const KeyValues part, KeyValues::Parse(text));
    COOPER_ASSIGN_OR_RETURN(const auto lengths, LoadLengths(part));
    for (const auto& [length, count] : lengths) {
      counts[length] += count;
      all += static_cast<double>(count);
    }
  }
  if (counts.empty()) return held_options_.buckets;  // no part has read a sample
  // About choice_samples samples stand for all, and a sample of the largest bucket keeps that one.
  const int64_t largest = held_options_.buckets.back().extents[0];
  std::vector<BucketKey::Tuple> extents = {{largest}};
  for (const auto& [length, count] : counts) {
    const double share =
        std::ceil(static_cast<double>(count) / all * static_cast<double>(options_.choice_samples));
    extents.insert(extents.end(), static_cast<size_t>(std::min(static_cast<double>(count), share)),
                   {length});
  }
  Options options = options_;
  options.max_extents = {largest};
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<BucketKey::Tuple> chosen,
      AddContext(ChooseExtents(options, 1, options.step_cost, extents), "BucketStream"));
  HeldSamplesOptions held = held_options_;
  held.buckets = WithBatchSizes(options_, batcher_, chosen);
  // Shorter buckets may have larger batches than the pool allows.
  return CheckPool(held, source_->fields()).ok() ? held.buckets : held_options_.buckets;
}

absl::StatusOr<BucketStream::Buckets> BucketStream::LoadBuckets(const KeyValues& state) const {
  if (!options_.rechoose_buckets) return held_options_.buckets;
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, state.GetInts("buckets"));
  const int64_t largest = held_options_.buckets.back().extents[0];
  std::vector<BucketKey::Tuple> buckets;
  int64_t last = 0;
  bool is_rising = std::ssize(lengths) <= options_.common.max_buckets;
  for (const int64_t length : lengths) {
    is_rising = is_rising && length > last;
    last = length;
    buckets.push_back({length});
  }
  if (!is_rising || last != largest) {
    return Error("state 'buckets' is ", absl::StrJoin(lengths, ", "), ", expected at most ",
                 options_.common.max_buckets, " rising lengths up to ", largest);
  }
  HeldSamplesOptions held = held_options_;
  held.buckets = WithBatchSizes(options_, batcher_, buckets);
  COOPER_RETURN_IF_ERROR(CheckPool(held, source_->fields()));
  return held.buckets;
}

}  // namespace cooper
