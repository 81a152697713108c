#include "io/streams/bucket_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Separate the random streams of drawn rows and of planned steps from those of other users of a
// seed. Each epoch, and for draws each part, has a stream of its own.
constexpr uint64_t kDrawStreams = uint64_t{0xB7} << 56;
constexpr uint64_t kPlanStreams = uint64_t{0xB8} << 56;
constexpr uint64_t kMaxParts = uint64_t{1} << 20;  // bucket_stream_create.cc checks it

constexpr absl::string_view kFailed = "failed: ";

// Adds the time of its life to a number of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds) {}
  ~Stopwatch() {
    *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* const seconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

BucketStream::BucketStream(std::shared_ptr<const MixedSource> source, BucketStreamOptions options,
                           StreamBatcher batcher, HeldSamplesOptions held)
    : source_(std::move(source)),
      options_(std::move(options)),
      batcher_(std::move(batcher)),
      held_options_(std::move(held)),
      cursor_(MakeCursor(options_.common.seed)) {
  UseBuckets(held_options_.buckets);
  StartEpoch(options_.common.seed, 0, /*keep_samples=*/false);
}

void BucketStream::UseBuckets(Buckets buckets) {
  const PlacedCounts placed = held_ == nullptr ? PlacedCounts() : held_->placed();
  held_options_.buckets = std::move(buckets);
  held_ = std::make_unique<HeldSamples>(source_->fields(), held_options_);
  held_->CountAs(placed);
  buckets_.clear();
  batch_sizes_.clear();
  for (const HeldSamplesOptions::Bucket& bucket : held_options_.buckets) {
    buckets_.push_back({.key = KeyOf(bucket.extents),
                        .data_shapes = batcher_.DescribeData(bucket.extents, bucket.batch_size),
                        .label_shapes = batcher_.DescribeLabel(bucket.extents, bucket.batch_size)});
    batch_sizes_.push_back(bucket.batch_size);
  }
}

std::unique_ptr<MixedCursor> BucketStream::MakeCursor(uint64_t seed) const {
  const ShardCursorOptions options = {.shuffle = options_.common.shuffle,
                                      .seed = seed,
                                      .part_index = options_.common.part_index,
                                      .num_parts = options_.common.num_parts};
  return std::make_unique<MixedCursor>(*source_, options, options_.epoch_samples);
}

void BucketStream::StartEpoch(uint64_t seed, uint64_t epoch, bool keep_samples) {
  const auto part = static_cast<uint64_t>(options_.common.part_index);
  position_ = {.seed = seed,
               .epoch = epoch,
               .planned = {},
               .draws = RandomGenerator(seed, kDrawStreams + epoch * kMaxParts + part),
               .plans = RandomGenerator(seed, kPlanStreams + epoch),
               .lengths = {}};
  cursor_->StartEpoch(epoch);
  if (keep_samples) return;
  statistics_.left_over += held_->pool().size();
  held_->Clear();
}

absl::Status BucketStream::Reset() {
  if (options_.rechoose_buckets) {
    COOPER_ASSIGN_OR_RETURN(Buckets buckets, ChooseAgain());
    COOPER_RETURN_IF_ERROR(HardReset());
    UseBuckets(std::move(buckets));
    return absl::OkStatus();
  }
  const bool rolls_over = options_.common.last_batch == BucketStreamOptions::LastBatch::kRollOver;
  StartEpoch(position_.seed, position_.epoch + 1, /*keep_samples=*/rolls_over && position_.ended);
  return absl::OkStatus();
}

absl::Status BucketStream::HardReset() {
  StartEpoch(position_.seed, position_.epoch + 1, /*keep_samples=*/false);
  return absl::OkStatus();
}

absl::Status BucketStream::Read() {
  const double before = source_->decode_seconds();
  absl::Status filled = [this] {
    const Stopwatch stopwatch(&statistics_.read_seconds);
    return FillPool();
  }();
  const double decoding = source_->decode_seconds() - before;
  statistics_.decode_seconds += decoding;
  statistics_.read_seconds -= decoding;
  return filled;
}

absl::Status BucketStream::FillPool() {
  while (!position_.at_end && !held_->IsFull()) {
    SamplePlace place;
    COOPER_ASSIGN_OR_RETURN(const bool more, cursor_->Next(&sample_, &place));
    if (!more) {
      position_.at_end = true;
      break;
    }
    const absl::Status added = held_->Add(sample_, place);
    if (added.ok()) {
      if (!options_.rechoose_buckets) continue;
      COOPER_ASSIGN_OR_RETURN(const BucketKey::Tuple extents, held_->pool().ExtentsOf(sample_));
      ++position_.lengths[extents[0]];
      continue;
    }
    cursor_->StepBack();
    return AddContext(added, "BucketStream: ", source_->shard_name(place.shard), ", sample ",
                      place.ordinal, " (position ", place.position, ")");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> BucketStream::GatherTexts(const std::string& text) const {
  COOPER_ASSIGN_OR_RETURN(std::vector<std::string> texts, options_.all_gather(text));
  if (std::ssize(texts) == options_.common.num_parts) return texts;
  return absl::InvalidArgumentError(absl::StrCat("BucketStream: all_gather returned ", texts.size(),
                                                 " texts, num_parts is ",
                                                 options_.common.num_parts));
}

absl::StatusOr<std::vector<HeldCounts>> BucketStream::Gather(const absl::Status& read) {
  const HeldCounts own = {.samples = held_->Counts(), .at_end = position_.at_end};
  if (options_.common.num_parts == 1) {
    COOPER_RETURN_IF_ERROR(read);
    return std::vector<HeldCounts>{own};
  }
  const Stopwatch stopwatch(&statistics_.peer_seconds);
  // A part that fails sends its error; without it the other parts would wait forever.
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<std::string> texts,
      GatherTexts(read.ok() ? own.ToString() : absl::StrCat(kFailed, read.message())));
  COOPER_RETURN_IF_ERROR(read);
  std::vector<HeldCounts> parts;
  for (size_t p = 0; p < texts.size(); ++p) {
    if (absl::StartsWith(texts[p], kFailed)) {
      return absl::UnavailableError(absl::StrCat("BucketStream: part ", p, " ", texts[p]));
    }
    COOPER_ASSIGN_OR_RETURN(
        HeldCounts part,
        AddContext(HeldCounts::Parse(texts[p], buckets_.size()), "BucketStream: part ", p));
    parts.push_back(std::move(part));
  }
  return parts;
}

absl::Status BucketStream::Plan() {
  const absl::Status read = Read();
  COOPER_ASSIGN_OR_RETURN(const std::vector<HeldCounts> parts, Gather(read));
  const auto last_batch = options_.common.last_batch;
  const bool serve_rest = last_batch == BucketStreamOptions::LastBatch::kPad ||
                          last_batch == BucketStreamOptions::LastBatch::kSmaller;
  position_.planned =
      PlanSteps(parts,
                {.batch_sizes = batch_sizes_,
                 .max_steps = options_.common.num_parts == 1 ? 1 : options_.agree_batches,
                 .shuffle = options_.common.shuffle,
                 .serve_rest = serve_rest},
                &position_.plans);
  position_.ended = position_.planned.empty();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<DataBatch>> BucketStream::Next() {
  const Stopwatch stopwatch(&statistics_.wait_seconds);
  // The last state of an epoch may be from before the parts agreed on its end or from after that.
  // Parts that resume, some from the one and some from the other, all agree once more.
  if (position_.planned.empty() && (!position_.ended || position_.agree_again)) {
    position_.agree_again = false;
    COOPER_RETURN_IF_ERROR(Plan());
  }
  if (position_.planned.empty()) return std::nullopt;
  return MakePlanned();
}

absl::StatusOr<DataBatch> BucketStream::MakePlanned() {
  const Stopwatch stopwatch(&statistics_.batch_seconds);
  const int bucket = position_.planned.front();
  const BucketKey::Tuple& extents = held_options_.buckets[bucket].extents;
  const absl::Span<const HeldSamples::Handle> rows = held_->Front(bucket, &position_.draws);
  const auto num_rows = static_cast<int64_t>(rows.size());
  const bool smaller = options_.common.last_batch == BucketStreamOptions::LastBatch::kSmaller;
  const int64_t batch_size = smaller ? num_rows : batch_sizes_[bucket];
  COOPER_ASSIGN_OR_RETURN(DataBatch batch, batcher_.Make(held_->pool(), rows, extents, batch_size));
  for (const HeldSamples::Handle row : rows) {
    statistics_.tokens += batcher_.TokensOf(held_->pool(), row);
  }
  statistics_.samples += num_rows;
  statistics_.batches += 1;
  statistics_.padding_batches += num_rows == 0 ? 1 : 0;
  statistics_.padding_rows += batch.pad;
  statistics_.padded_tokens += batch_size * batcher_.RowTokens(extents);
  held_->Drop(bucket);
  position_.planned.erase(position_.planned.begin());
  return batch;
}

std::vector<BucketKey> BucketStream::bucket_keys() const {
  std::vector<BucketKey> keys;
  for (const BucketShapes& bucket : buckets_) keys.push_back(bucket.key);
  return keys;
}

absl::StatusOr<BucketShapes> BucketStream::bucket_shapes(const BucketKey& key) const {
  for (const BucketShapes& bucket : buckets_) {
    if (bucket.key == key) return bucket;
  }
  return absl::NotFoundError(absl::StrCat("BucketStream: there is no bucket ", key.ToString()));
}

DataStatistics BucketStream::statistics() const {
  DataStatistics statistics = statistics_;
  statistics.discarded = held_->placed().discarded;
  statistics.truncated = held_->placed().truncated;
  statistics.split = held_->placed().split;
  statistics.pool_samples = held_->pool().size();
  statistics.pool_bytes = held_->pool().bytes();
  return statistics;
}

}  // namespace cooper
