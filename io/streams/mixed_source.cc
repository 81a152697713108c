#include "io/streams/mixed_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Separates the draws of sources from other random streams of a seed.
constexpr uint64_t kMixStreams = uint64_t{0xB9} << 56;
constexpr uint64_t kMaxParts = uint64_t{1} << 20;  // as in bucket_stream.cc

bool HaveSameFields(const SampleSource& a, const SampleSource& b) {
  return std::equal(a.fields().begin(), a.fields().end(), b.fields().begin(), b.fields().end(),
                    [](const SampleField& x, const SampleField& y) {
                      return x.dtype == y.dtype && x.step == y.step &&
                             x.is_sequence == y.is_sequence && x.pad_to == y.pad_to;
                    });
}

RandomGenerator DrawsOf(const ShardCursorOptions& options, uint64_t epoch) {
  const auto part = static_cast<uint64_t>(options.part_index);
  return RandomGenerator(options.seed, kMixStreams + epoch * kMaxParts + part);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MixedSource>> MixedSource::Create(
    std::vector<WeightedSource> parts) {
  if (parts.empty()) return absl::InvalidArgumentError("there is no source");
  auto mixed = absl::WrapUnique(new MixedSource());
  mixed->first_shards_.push_back(0);
  for (size_t p = 0; p < parts.size(); ++p) {
    const SampleSource& source = *parts[p].source;
    if (source.num_shards() < 1) {
      return absl::InvalidArgumentError(absl::StrCat("source ", p, " has no shards"));
    }
    if (!HaveSameFields(source, *parts[0].source)) {
      return absl::InvalidArgumentError(
          absl::StrCat("source ", p, " has other fields than source 0"));
    }
    if (!(parts[p].weight > 0) || !std::isfinite(parts[p].weight)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "source ", p, " has the weight ", parts[p].weight, ", expected a positive number"));
    }
    mixed->first_shards_.push_back(mixed->first_shards_.back() + source.num_shards());
  }
  mixed->parts_ = std::move(parts);
  return std::shared_ptr<const MixedSource>(std::move(mixed));
}

double MixedSource::decode_seconds() const {
  double seconds = 0;
  for (const WeightedSource& part : parts_) seconds += part.source->decode_seconds();
  return seconds;
}

size_t MixedSource::PartOf(int64_t shard) const {
  return static_cast<size_t>(std::upper_bound(first_shards_.begin(), first_shards_.end(), shard) -
                             first_shards_.begin() - 1);
}

std::string MixedSource::shard_name(int64_t shard) const {
  const size_t part = PartOf(shard);
  return parts_[part].source->shard_name(shard - first_shards_[part]);
}

absl::StatusOr<std::unique_ptr<ShardReader>> MixedSource::Open(int64_t shard) const {
  const size_t part = PartOf(shard);
  return parts_[part].source->Open(shard - first_shards_[part]);
}

MixedCursor::MixedCursor(const MixedSource& source, const ShardCursorOptions& options,
                         int64_t epoch_samples)
    : source_(source),
      options_(options),
      epoch_samples_(epoch_samples / options.num_parts +
                     (options.part_index < epoch_samples % options.num_parts ? 1 : 0)) {
  for (const WeightedSource& part : source.parts()) cursors_.emplace_back(*part.source, options);
  StartEpoch(0);
}

void MixedCursor::StartEpoch(uint64_t epoch) {
  epoch_ = epoch;
  left_ = left_before_ = epoch_samples_;
  draws_ = draws_before_ = DrawsOf(options_, epoch);
  if (!is_mixed()) cursors_[0].StartEpoch(epoch);
}

size_t MixedCursor::Draw() {
  double sum = 0;
  for (const WeightedSource& part : source_.parts()) sum += part.weight;
  double drawn = draws_.NextUniform() * sum;
  size_t part = 0;
  while (part + 1 < cursors_.size() && drawn >= source_.parts()[part].weight) {
    drawn -= source_.parts()[part++].weight;
  }
  return part;
}

absl::Status MixedCursor::ReadFrom(size_t part, Sample* sample, SamplePlace* place) {
  // Empty shards may leave a part without samples for an epoch.
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    COOPER_ASSIGN_OR_RETURN(const bool more, cursors_[part].Next(sample, place));
    if (more) return absl::OkStatus();
    cursors_[part].StartEpoch(cursors_[part].epoch() + 1);
  }
  return absl::InvalidArgumentError(absl::StrCat("source ", part, " has no sample for part ",
                                                 options_.part_index, " of ", options_.num_parts));
}

absl::StatusOr<bool> MixedCursor::Next(Sample* sample, SamplePlace* place) {
  if (!is_mixed()) return cursors_[0].Next(sample, place);
  if (left_ == 0) return false;
  const RandomGenerator before = draws_;
  const size_t part = Draw();
  const absl::Status read = ReadFrom(part, sample, place);
  if (!read.ok()) {
    draws_ = before;
    return read;
  }
  place->shard += source_.first_shard(part);
  draws_before_ = before;
  left_before_ = left_--;
  last_part_ = part;
  return true;
}

void MixedCursor::StepBack() {
  cursors_[last_part_].StepBack();
  draws_ = draws_before_;
  left_ = left_before_;
}

void MixedCursor::SaveTo(KeyValues* state) const {
  for (size_t p = 0; p < cursors_.size(); ++p) {
    cursors_[p].SaveTo(absl::StrCat("cursor", p, "_"), state);
  }
  if (!is_mixed()) return;
  state->SetUint("mix_epoch", epoch_);
  state->SetInt("mix_left", left_);
  state->SetUint("mix_draws", draws_.state().position);
}

absl::Status MixedCursor::LoadFrom(const KeyValues& state) {
  for (size_t p = 0; p < cursors_.size(); ++p) {
    COOPER_RETURN_IF_ERROR(cursors_[p].LoadFrom(absl::StrCat("cursor", p, "_"), state));
  }
  if (!is_mixed()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("mix_epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t left, state.GetInt("mix_left"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t draws, state.GetUint("mix_draws"));
  if (left < 0 || left > epoch_samples_) {
    return absl::InvalidArgumentError(
        absl::StrCat("state 'mix_left' is ", left, ", not in [0, ", epoch_samples_, "]"));
  }
  StartEpoch(epoch);
  left_ = left_before_ = left;
  RandomGenerator::State moved = draws_.state();
  moved.position = draws;
  draws_ = draws_before_ = RandomGenerator(moved);
  return absl::OkStatus();
}

}  // namespace cooper
