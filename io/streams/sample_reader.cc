#include "io/streams/sample_reader.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// Separates the streams of shard orders from those of other users of a seed.
constexpr uint64_t kStreamBase = uint64_t{0xB6} << 56;

}  // namespace

SampleReader::SampleReader(const SampleSource& source, int64_t shard,
                           std::unique_ptr<ShardReader> reader)
    : source_(&source), shard_(shard), reader_(std::move(reader)) {}

absl::StatusOr<SampleReader> SampleReader::Open(const SampleSource& source, int64_t shard) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<ShardReader> reader, source.Open(shard));
  return SampleReader(source, shard, std::move(reader));
}

SamplePlace SampleReader::place() const {
  return {.shard = shard_, .ordinal = ordinal_, .position = reader_->Position()};
}

absl::StatusOr<bool> SampleReader::Next(Sample* sample) {
  COOPER_ASSIGN_OR_RETURN(const bool more, reader_->Next(sample));
  if (more) ++ordinal_;
  return more;
}

absl::Status SampleReader::MoveTo(const SamplePlace& place) {
  if (place.ordinal == ordinal_) return absl::OkStatus();
  const absl::Status moved = reader_->SeekTo(place.position);
  if (!absl::IsUnimplemented(moved)) {
    if (moved.ok()) ordinal_ = place.ordinal;
    return moved;
  }
  if (place.ordinal < ordinal_) {
    COOPER_ASSIGN_OR_RETURN(reader_, source_->Open(shard_));
    ordinal_ = 0;
  }
  Sample skipped;
  while (ordinal_ < place.ordinal) {
    COOPER_ASSIGN_OR_RETURN(const bool more, Next(&skipped));
    if (more) continue;
    return absl::OutOfRangeError(absl::StrCat(source_->shard_name(shard_), " has only ", ordinal_,
                                              " samples, sample ", place.ordinal,
                                              " was read before; has it changed?"));
  }
  return absl::OkStatus();
}

ShardCursor::ShardCursor(const SampleSource& source, const ShardCursorOptions& options)
    : source_(source), options_(options) {
  StartEpoch(0);
}

void ShardCursor::StartEpoch(uint64_t epoch) {
  epoch_ = epoch;
  at_ = before_ = At();
  reader_ = nullptr;
  std::vector<int64_t> all(static_cast<size_t>(source_.num_shards()));
  std::iota(all.begin(), all.end(), int64_t{0});
  if (options_.shuffle) RandomGenerator(options_.seed, kStreamBase + epoch).Shuffle(all);
  order_.clear();
  for (int64_t i = 0; i < std::ssize(all); ++i) {
    if (splits_shards() || i % options_.num_parts == options_.part_index) order_.push_back(all[i]);
  }
}

absl::Status ShardCursor::OpenReader() {
  COOPER_ASSIGN_OR_RETURN(SampleReader reader, SampleReader::Open(source_, order_[at_.turn]));
  COOPER_RETURN_IF_ERROR(reader.MoveTo(at_.place));
  reader_ = std::make_unique<SampleReader>(std::move(reader));
  return absl::OkStatus();
}

absl::StatusOr<bool> ShardCursor::Next(Sample* sample, SamplePlace* place) {
  while (at_.turn < std::ssize(order_)) {
    if (reader_ == nullptr) COOPER_RETURN_IF_ERROR(OpenReader());
    *place = reader_->place();
    const absl::StatusOr<bool> more = reader_->Next(sample);
    if (!more.ok()) {
      reader_ = nullptr;
      return more.status();
    }
    before_ = at_;
    if (!*more) {
      at_ = {.turn = at_.turn + 1, .place = {}};
      reader_ = nullptr;
      continue;
    }
    at_.place = reader_->place();
    if (!splits_shards() || place->ordinal % options_.num_parts == options_.part_index) return true;
  }
  return false;
}

void ShardCursor::StepBack() {
  at_ = before_;
  reader_ = nullptr;
}

void ShardCursor::SaveTo(absl::string_view prefix, KeyValues* state) const {
  state->SetUint(absl::StrCat(prefix, "epoch"), epoch_);
  state->SetInts(absl::StrCat(prefix, "at"), {at_.turn, at_.place.ordinal, at_.place.position});
  state->SetInt(absl::StrCat(prefix, "shards"), source_.num_shards());
}

absl::Status ShardCursor::LoadFrom(absl::string_view prefix, const KeyValues& state) {
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint(absl::StrCat(prefix, "epoch")));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> at, state.GetInts(absl::StrCat(prefix, "at")));
  COOPER_ASSIGN_OR_RETURN(const int64_t shards, state.GetInt(absl::StrCat(prefix, "shards")));
  if (shards != source_.num_shards()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the state is of ", shards, " shards, the source has ", source_.num_shards()));
  }
  if (at.size() != 3 || at[0] < 0 || at[0] > shards || at[1] < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("state '", prefix, "at' is no place of a shard"));
  }
  StartEpoch(epoch);
  if (at[0] > std::ssize(order_)) {
    return absl::InvalidArgumentError(absl::StrCat("state '", prefix, "at' has turn ", at[0],
                                                   ", this part has ", order_.size(), " shards"));
  }
  at_ = {.turn = at[0], .place = {.ordinal = at[1], .position = at[2]}};
  return absl::OkStatus();
}

}  // namespace cooper
