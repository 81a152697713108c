// Checks the options of a BucketStream and chooses its buckets.

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Options = BucketStreamOptions;

// Limits of numbers that are combined in one: a row's id (StreamBatcher::Make), a random stream.
constexpr int64_t kMaxShards = int64_t{1} << 23;
constexpr int64_t kMaxParts = int64_t{1} << 20;

// The shards whose first samples decide about buckets: more would take time to open.
constexpr int64_t kChoiceShards = 16;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("BucketStream: ", parts...));
}

absl::Status CheckNumbers(const Options& options) {
  const struct {
    const char* name;
    int64_t value;
    int64_t least;
  } numbers[] = {
      {"batch_size", options.batch_size, 1},
      {"choice_samples", options.choice_samples, 1},
      {"max_length", options.max_length, 0},
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
  for (const int64_t bucket : options.buckets) {
    if (bucket < 1) return Error("a bucket is ", bucket, ", expected at least 1");
  }
  for (const auto& [length, size] : options.batch_sizes) {
    if (size < 1) {
      return Error("batch_sizes of ", length, " is ", size, ", expected at least 1");
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
                         options.max_length != 0 || options.step_cost != nullptr ||
                         !options.lengths.empty();
  if (is_choice && common.max_buckets == 0) {
    return Error("bucket_cost, step_cost, multiple_of, max_length and lengths need max_buckets");
  }
  const size_t sources = source.parts().size();
  if ((sources > 1) != (options.epoch_samples > 0)) {
    return Error("there are ", sources, " sources and epoch_samples is ", options.epoch_samples,
                 ": several sources need it, a single one has epochs of its own");
  }
  return absl::OkStatus();
}

// Returns the lengths of the first samples of some shards, in equal numbers as far as they have
// them.
absl::StatusOr<std::vector<int64_t>> FirstLengths(const SampleSource& source, int64_t count) {
  const SamplePool pool(source.fields());
  std::vector<int64_t> lengths;
  Sample sample;
  const int64_t shards = std::min({source.num_shards(), kChoiceShards, count});
  for (int64_t i = 0; i < shards; ++i) {
    const int64_t shard = i * source.num_shards() / shards;
    COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<ShardReader> reader, source.Open(shard));
    while (std::ssize(lengths) < (i + 1) * count / shards) {
      COOPER_ASSIGN_OR_RETURN(const bool more, reader->Next(&sample));
      if (!more) break;
      COOPER_ASSIGN_OR_RETURN(const int64_t length,
                              AddContext(pool.LengthOf(sample), "BucketStream: ",
                                         source.shard_name(shard), ", sample ", lengths.size()));
      lengths.push_back(length);
    }
  }
  return lengths;
}

// Returns the lengths of the first samples of each source, as many as its weight says.
absl::StatusOr<std::vector<int64_t>> MixedLengths(const Options& options,
                                                  const MixedSource& source) {
  double weights = 0;
  for (const WeightedSource& part : source.parts()) weights += part.weight;
  std::vector<int64_t> lengths;
  for (const WeightedSource& part : source.parts()) {
    const double count = static_cast<double>(options.choice_samples) * part.weight / weights;
    COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> first,
                            FirstLengths(*part.source, static_cast<int64_t>(std::ceil(count))));
    lengths.insert(lengths.end(), first.begin(), first.end());
  }
  return lengths;
}

absl::StatusOr<std::vector<int64_t>> BucketLengths(const Options& options,
                                                   const MixedSource& source) {
  if (options.common.max_buckets == 0) {
    const std::set<int64_t> sorted(options.buckets.begin(), options.buckets.end());
    return std::vector<int64_t>(sorted.begin(), sorted.end());
  }
  std::vector<int64_t> lengths = options.lengths;
  if (lengths.empty()) {
    COOPER_ASSIGN_OR_RETURN(lengths, MixedLengths(options, source));
  }
  COOPER_ASSIGN_OR_RETURN(
      BucketBoundaries best,
      AddContext(ChooseBuckets(lengths, {.max_buckets = options.common.max_buckets,
                                         .multiple_of = options.common.multiple_of,
                                         .bucket_cost = options.common.bucket_cost,
                                         .step_cost = options.step_cost,
                                         .max_length = options.max_length,
                                         .too_long = options.too_long}),
                 "BucketStream"));
  return std::move(best.buckets);
}

int64_t BatchSizeOf(const Options& options, int64_t length, int64_t row_tokens) {
  const auto own = options.batch_sizes.find(length);
  if (own != options.batch_sizes.end()) return own->second;
  const int64_t tokens = options.common.tokens_per_batch;
  return tokens > 0 ? std::max<int64_t>(1, tokens / row_tokens) : options.batch_size;
}

// Checks that some bucket has a full batch whenever the pool is full.
absl::Status CheckPool(const HeldSamplesOptions& held, const std::vector<SampleField>& fields) {
  const SamplePool pool(fields);
  double samples = 1, bytes = 0;
  for (const HeldSamplesOptions::Bucket& bucket : held.buckets) {
    const auto rows = static_cast<double>(bucket.batch_size);
    samples += rows - 1;
    bytes += rows * static_cast<double>(pool.BytesOf(bucket.length + 1));
  }
  bytes += static_cast<double>(pool.BytesOf(held.buckets.back().length + 1));
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
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, BucketLengths(options, *source));
  HeldSamplesOptions held = {.buckets = {},
                             .too_long = options.too_long,
                             .max_samples = options.pool_samples,
                             .max_bytes = options.pool_bytes,
                             .shuffle = options.common.shuffle,
                             .sort_batches = options.common.sort_batches};
  for (const int64_t length : lengths) {
    held.buckets.push_back(
        {.length = length, .batch_size = BatchSizeOf(options, length, batcher.RowTokens(length))});
  }
  COOPER_RETURN_IF_ERROR(CheckPool(held, source->fields()));
  options.step_cost = nullptr;  // may refer to objects that are destroyed later
  return absl::WrapUnique(
      new BucketStream(std::move(source), std::move(options), std::move(batcher), std::move(held)));
}

}  // namespace cooper
