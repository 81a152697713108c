// Saves and restores the state of a BucketStream.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "BucketStream";

// Returns the options that decide about the order of samples, by their names in states.
std::vector<std::pair<const char*, int64_t>> OrderOptions(const BucketStreamOptions& options) {
  const CommonBucketOptions& common = options.common;
  std::vector<std::pair<const char*, int64_t>> order = {
      {"shuffle", common.shuffle ? 1 : 0},
      {"last_batch", static_cast<int64_t>(common.last_batch)},
      {"sort_batches", common.sort_batches},
      {"part_index", common.part_index},
      {"num_parts", common.num_parts},
      {"too_long", static_cast<int64_t>(options.too_long)},
      {"pool_samples", options.pool_samples},
      {"pool_bytes", options.pool_bytes},
      {"epoch_samples", options.epoch_samples}};
  if (common.num_parts > 1) order.emplace_back("agree_batches", options.agree_batches);
  return order;
}

}  // namespace

void BucketStream::SaveOptions(KeyValues* state) const {
  std::vector<int64_t> lengths;
  for (const HeldSamplesOptions::Bucket& bucket : held_options_.buckets) {
    lengths.push_back(bucket.length);
  }
  state->SetInts("buckets", lengths);
  state->SetInts("batch_sizes", batch_sizes_);
  for (const auto& [option, value] : OrderOptions(options_)) state->SetInt(option, value);
}

absl::Status BucketStream::CheckOptions(const KeyValues& state) const {
  KeyValues own;
  SaveOptions(&own);
  for (const char* list : {"buckets", "batch_sizes"}) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> theirs, state.GetInts(list));
    COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> ours, own.GetInts(list));
    if (theirs == ours) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(kKind, ": the state is of ", list, " ", absl::StrJoin(theirs, ", "),
                     ", this stream has ", absl::StrJoin(ours, ", ")));
  }
  for (const auto& [option, value] : OrderOptions(options_)) {
    COOPER_RETURN_IF_ERROR(AddContext(state.ExpectOption(option, value), kKind));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> BucketStream::SaveState() const {
  KeyValues state;
  state.SetString("kind", kKind);
  SaveOptions(&state);
  state.SetUint("seed", position_.seed);
  state.SetUint("epoch", position_.epoch);
  state.SetInt("at_end", position_.at_end ? 1 : 0);
  state.SetInt("ended", position_.ended ? 1 : 0);
  state.SetInts("planned",
                std::vector<int64_t>(position_.planned.begin(), position_.planned.end()));
  state.SetUint("draws", position_.draws.state().position);
  state.SetUint("plans", position_.plans.state().position);
  cursor_->SaveTo(&state);
  held_->SaveTo(&state);
  return state.ToString();
}

absl::Status BucketStream::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_RETURN_IF_ERROR(CheckOptions(state));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t at_end, state.GetInt("at_end"));
  COOPER_ASSIGN_OR_RETURN(const int64_t ended, state.GetInt("ended"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> planned, state.GetInts("planned"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t draws, state.GetUint("draws"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t plans, state.GetUint("plans"));
  for (const int64_t bucket : planned) {
    if (bucket >= 0 && bucket < std::ssize(buckets_)) continue;
    return absl::InvalidArgumentError(absl::StrCat(kKind, ": state 'planned' has bucket number ",
                                                   bucket, ", not in [0, ", buckets_.size(), ")"));
  }
  std::unique_ptr<MixedCursor> cursor = MakeCursor(seed);
  auto held = std::make_unique<HeldSamples>(source_->fields(), held_options_);
  COOPER_RETURN_IF_ERROR(AddContext(cursor->LoadFrom(state), kKind));
  COOPER_RETURN_IF_ERROR(AddContext(held->LoadFrom(state, *source_), kKind));
  held->CountAs(held_->placed());

  StartEpoch(seed, epoch, /*keep_samples=*/true);
  cursor_ = std::move(cursor);
  held_ = std::move(held);
  position_.at_end = at_end != 0;
  position_.ended = ended != 0;
  position_.agree_again = position_.ended;
  position_.planned.assign(planned.begin(), planned.end());
  const auto at = [](const RandomGenerator& start, uint64_t position) {
    RandomGenerator::State moved = start.state();
    moved.position = position;
    return RandomGenerator(moved);
  };
  position_.draws = at(position_.draws, draws);
  position_.plans = at(position_.plans, plans);
  return absl::OkStatus();
}

}  // namespace cooper
