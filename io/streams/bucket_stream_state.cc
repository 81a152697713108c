// Saves and restores the state of a BucketStream.

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "BucketStream";

// The most samples of one length in the epoch of a part: sums over all parts are int64_t.
constexpr int64_t kMaxSamples = int64_t{1} << 40;

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
      {"epoch_samples", options.epoch_samples},
      {"rechoose_buckets", options.rechoose_buckets ? 1 : 0}};
  if (options.rechoose_buckets) {
    order.insert(order.end(), {{"choice_samples", options.choice_samples},
                               {"max_buckets", common.max_buckets},
                               {"multiple_of", common.multiple_of}});
  }
  if (common.num_parts > 1) order.emplace_back("agree_batches", options.agree_batches);
  return order;
}

}  // namespace

void BucketStream::SaveLengths(KeyValues* state) const {
  std::vector<int64_t> pairs;
  for (const auto& [length, count] : position_.lengths) {
    pairs.insert(pairs.end(), {length, count});
  }
  state->SetInts("lengths", pairs);
}

absl::StatusOr<std::map<int64_t, int64_t>> BucketStream::LoadLengths(const KeyValues& state) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> pairs, state.GetInts("lengths"));
  std::map<int64_t, int64_t> lengths;
  bool is_valid = pairs.size() % 2 == 0;
  for (size_t i = 0; is_valid && i < pairs.size(); i += 2) {
    is_valid = pairs[i] >= 0 && pairs[i + 1] > 0 && pairs[i + 1] <= kMaxSamples;
    lengths[pairs[i]] = pairs[i + 1];
  }
  if (is_valid) return lengths;
  return absl::InvalidArgumentError(
      absl::StrCat(kKind, ": state 'lengths' does not have lengths and their numbers"));
}

void BucketStream::SaveOptions(const Buckets& buckets, KeyValues* state) const {
  std::vector<int64_t> extents, batch_sizes;
  for (const HeldSamplesOptions::Bucket& bucket : buckets) {
    extents.insert(extents.end(), bucket.extents.begin(), bucket.extents.end());
    batch_sizes.push_back(bucket.batch_size);
  }
  state->SetInts("buckets", extents);
  state->SetInts("batch_sizes", batch_sizes);
  for (const auto& [option, value] : OrderOptions(options_)) state->SetInt(option, value);
}

absl::Status BucketStream::CheckOptions(const KeyValues& state, const Buckets& buckets) const {
  KeyValues own;
  SaveOptions(buckets, &own);
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
  SaveOptions(held_options_.buckets, &state);
  state.SetUint("seed", position_.seed);
  state.SetUint("epoch", position_.epoch);
  state.SetInt("at_end", position_.at_end ? 1 : 0);
  state.SetInt("ended", position_.ended ? 1 : 0);
  state.SetInts("planned",
                std::vector<int64_t>(position_.planned.begin(), position_.planned.end()));
  state.SetUint("draws", position_.draws.state().position);
  state.SetUint("plans", position_.plans.state().position);
  if (options_.rechoose_buckets) SaveLengths(&state);
  cursor_->SaveTo(&state);
  held_->SaveTo(&state);
  return state.ToString();
}

absl::Status BucketStream::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(Buckets buckets, LoadBuckets(state));
  COOPER_RETURN_IF_ERROR(CheckOptions(state, buckets));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t at_end, state.GetInt("at_end"));
  COOPER_ASSIGN_OR_RETURN(const int64_t ended, state.GetInt("ended"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> planned, state.GetInts("planned"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t draws, state.GetUint("draws"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t plans, state.GetUint("plans"));
  for (const int64_t bucket : planned) {
    if (bucket >= 0 && bucket < std::ssize(buckets)) continue;
    return absl::InvalidArgumentError(absl::StrCat(kKind, ": state 'planned' has bucket number ",
                                                   bucket, ", not in [0, ", buckets.size(), ")"));
  }
  std::map<int64_t, int64_t> lengths;
  if (options_.rechoose_buckets) {
    COOPER_ASSIGN_OR_RETURN(lengths, LoadLengths(state));
  }
  std::unique_ptr<MixedCursor> cursor = MakeCursor(seed);
  HeldSamplesOptions held_options = held_options_;
  held_options.buckets = buckets;
  auto held = std::make_unique<HeldSamples>(source_->fields(), std::move(held_options));
  COOPER_RETURN_IF_ERROR(AddContext(cursor->LoadFrom(state), kKind));
  COOPER_RETURN_IF_ERROR(AddContext(held->LoadFrom(state, *source_), kKind));
  held->CountAs(held_->placed());

  UseBuckets(std::move(buckets));
  StartEpoch(seed, epoch, /*keep_samples=*/true);
  position_.lengths = std::move(lengths);
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
