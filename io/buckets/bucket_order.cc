#include "io/buckets/bucket_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// Separates the streams of these iterators from those of other users of a seed.
constexpr uint64_t kStreamBase = uint64_t{0xB5} << 56;

using Remainder = BucketOrderOptions::Remainder;

std::string NameOf(Remainder remainder) {
  switch (remainder) {
    case Remainder::kServe:
      return "kServe";
    case Remainder::kRollOver:
      return "kRollOver";
    case Remainder::kLeaveOut:
      break;
  }
  return "kLeaveOut";
}

}  // namespace

BucketOrder::BucketOrder(std::vector<Bucket> buckets, const BucketOrderOptions& options)
    : buckets_(std::move(buckets)),
      options_(options),
      carried_(buckets_.size()),
      rows_(buckets_.size()),
      seed_(options.seed) {
  StartEpoch();
}

int64_t BucketOrder::NumBatches(const Bucket& bucket, size_t carried) const {
  const auto size = static_cast<int64_t>(carried + bucket.ids.size());
  const int64_t rows = StepSize(bucket);
  const bool serve_rest = options_.remainder == Remainder::kServe && size % rows > 0;
  return size / rows + (serve_rest ? 1 : 0);
}

int64_t BucketOrder::NumServed(int bucket) const {
  const auto size = static_cast<int64_t>(buckets_[bucket].ids.size());
  return std::min(size, NumBatches(bucket) * StepSize(buckets_[bucket]));
}

int64_t BucketOrder::NumLeftOver(int bucket) const {
  if (options_.remainder == Remainder::kServe) return 0;
  return static_cast<int64_t>(rows_[bucket].size()) % StepSize(buckets_[bucket]);
}

void BucketOrder::StartEpoch() {
  cursor_ = 0;
  order_.clear();
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const int64_t batches = NumBatches(buckets_[b], carried_[b].size());
    for (int64_t i = 0; i < batches; ++i) {
      order_.push_back({.bucket = static_cast<int>(b), .row = i * StepSize(buckets_[b])});
    }
  }
  RandomGenerator random(seed_, kStreamBase + epoch_);
  if (options_.shuffle) random.Shuffle(order_);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    // Starts from the samples' own order, not that of the last epoch, so that states need no
    // history.
    rows_[b] = buckets_[b].ids;
    if (options_.shuffle) random.Shuffle(rows_[b]);
    rows_[b].insert(rows_[b].begin(), carried_[b].begin(), carried_[b].end());
    if (options_.sort_batches > 0) Sort(buckets_[b], &rows_[b]);
  }
}

void BucketOrder::Sort(const Bucket& bucket, std::vector<int64_t>* rows) const {
  absl::flat_hash_map<int64_t, int64_t> length_of;
  for (size_t i = 0; i < bucket.ids.size(); ++i) length_of[bucket.ids[i]] = bucket.lengths[i];
  const auto size = static_cast<int64_t>(rows->size());
  const int64_t step = StepSize(bucket);
  const int64_t full = size / step * step;
  const int64_t window =
      options_.sort_batches > size / step ? std::max(full, step) : options_.sort_batches * step;
  std::vector<int64_t> dealt;
  for (int64_t begin = 0; begin < size;) {
    const int64_t end = begin < full ? std::min(begin + window, full) : size;
    std::stable_sort(rows->begin() + begin, rows->begin() + end,
                     [&](int64_t a, int64_t b) { return length_of[a] > length_of[b]; });
    // Distributes the samples so that no part has all the long ones.
    for (; begin + step <= end && options_.num_parts > 1; begin += step) {
      dealt.clear();
      for (int64_t part = 0; part < options_.num_parts; ++part) {
        for (int64_t i = part; i < step; i += options_.num_parts) {
          dealt.push_back((*rows)[begin + i]);
        }
      }
      std::copy(dealt.begin(), dealt.end(), rows->begin() + begin);
    }
    begin = end;
  }
}

BucketOrder::Batch BucketOrder::Current() const {
  const Start& start = order_[cursor_];
  const int64_t batch_size = buckets_[start.bucket].batch_size;
  const std::vector<int64_t>& rows = rows_[start.bucket];
  const int64_t first = start.row + options_.part_index * batch_size;
  const int64_t available = static_cast<int64_t>(rows.size()) - first;
  if (available <= 0) return {.bucket = start.bucket};
  return {.bucket = start.bucket,
          .ids = absl::MakeConstSpan(rows).subspan(static_cast<size_t>(first),
                                                   static_cast<size_t>(batch_size))};
}

void BucketOrder::NextEpoch() {
  const bool complete = AtEnd();
  for (size_t b = 0; b < buckets_.size(); ++b) {
    if (options_.remainder == Remainder::kRollOver && complete) {
      const auto rest = static_cast<int64_t>(rows_[b].size()) % StepSize(buckets_[b]);
      carried_[b].assign(rows_[b].end() - rest, rows_[b].end());
    } else {
      carried_[b].clear();
    }
  }
  ++epoch_;
  StartEpoch();
}

void BucketOrder::NextEpochAlone() {
  for (std::vector<int64_t>& ids : carried_) ids.clear();
  ++epoch_;
  StartEpoch();
}

void BucketOrder::SaveTo(int64_t tokens, KeyValues* state) const {
  state->SetUint("seed", seed_);
  state->SetUint("epoch", epoch_);
  state->SetInt("cursor", cursor_);
  // These values detect another part, other data or other options.
  state->SetInt("part_index", options_.part_index);
  state->SetInt("num_parts", options_.num_parts);
  state->SetInt("batches", num_batches());
  state->SetInt("tokens", tokens);
  state->SetInt("shuffle", options_.shuffle ? 1 : 0);
  state->SetString("remainder", NameOf(options_.remainder));
  std::vector<int64_t> batch_sizes;
  for (const Bucket& bucket : buckets_) batch_sizes.push_back(bucket.batch_size);
  state->SetInts("batch_sizes", batch_sizes);
  if (options_.sort_batches > 0) state->SetInt("sort_batches", options_.sort_batches);
  if (options_.remainder != Remainder::kRollOver) return;
  std::vector<int64_t> carried;
  for (const std::vector<int64_t>& ids : carried_) {
    carried.insert(carried.end(), ids.begin(), ids.end());
  }
  state->SetInts("carried", carried);
}

absl::Status BucketOrder::ExpectOptions(absl::string_view kind, const KeyValues& state) const {
  // States without parts, of earlier versions, cover all samples.
  int64_t part_index = 0;
  int64_t num_parts = 1;
  if (state.Has("num_parts")) {
    COOPER_ASSIGN_OR_RETURN(part_index, state.GetInt("part_index"));
    COOPER_ASSIGN_OR_RETURN(num_parts, state.GetInt("num_parts"));
  }
  if (part_index != options_.part_index || num_parts != options_.num_parts) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, ": the state is of part_index ", part_index, " of num_parts ", num_parts,
                     ", this iterator has ", options_.part_index, " of ", options_.num_parts));
  }
  const auto expect = [&](absl::string_view option, const auto& value, const auto& expected) {
    if (value == expected) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(kind, ": the state is of ", option, " ", value,
                                                   ", this iterator has ", expected));
  };
  int64_t sort_batches = 0;
  if (state.Has("sort_batches")) {
    COOPER_ASSIGN_OR_RETURN(sort_batches, state.GetInt("sort_batches"));
  }
  COOPER_RETURN_IF_ERROR(expect("sort_batches", sort_batches, options_.sort_batches));
  if (state.Has("shuffle")) {
    COOPER_ASSIGN_OR_RETURN(const int64_t shuffle, state.GetInt("shuffle"));
    COOPER_RETURN_IF_ERROR(expect("shuffle", shuffle, int64_t{options_.shuffle}));
  }
  if (state.Has("remainder")) {
    COOPER_ASSIGN_OR_RETURN(const std::string remainder, state.GetString("remainder"));
    COOPER_RETURN_IF_ERROR(expect("remainder (last_batch)", remainder, NameOf(options_.remainder)));
  }
  return ExpectBatchSizes(kind, state);
}

absl::Status BucketOrder::ExpectBatchSizes(absl::string_view kind, const KeyValues& state) const {
  if (!state.Has("batch_sizes")) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, state.GetInts("batch_sizes"));
  // Batch sizes are checked first, since a change of them may change the buckets.
  for (size_t b = 0; b < std::min(sizes.size(), buckets_.size()); ++b) {
    if (sizes[b] == buckets_[b].batch_size) continue;
    return absl::InvalidArgumentError(absl::StrCat(kind, ": the state is of batch_size ", sizes[b],
                                                   " in bucket number ", b, ", this iterator has ",
                                                   buckets_[b].batch_size));
  }
  if (sizes.size() == buckets_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kind, ": the state is of ", sizes.size(),
                                                 " buckets, this iterator has ", buckets_.size()));
}

absl::Status BucketOrder::LoadFrom(absl::string_view kind, int64_t tokens, const KeyValues& state) {
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t cursor, state.GetInt("cursor"));
  COOPER_ASSIGN_OR_RETURN(const int64_t batches, state.GetInt("batches"));
  COOPER_ASSIGN_OR_RETURN(const int64_t state_tokens, state.GetInt("tokens"));
  COOPER_RETURN_IF_ERROR(ExpectOptions(kind, state));

  std::vector<std::vector<int64_t>> carried(buckets_.size());
  if (options_.remainder == Remainder::kRollOver) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, state.GetInts("carried"));
    absl::flat_hash_map<int64_t, size_t> bucket_of;
    for (size_t b = 0; b < buckets_.size() && !ids.empty(); ++b) {
      for (int64_t id : buckets_[b].ids) bucket_of[id] = b;
    }
    for (int64_t id : ids) {
      const auto it = bucket_of.find(id);
      if (it == bucket_of.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(kind, ": state 'carried' has sample ", id, ", which is in no bucket"));
      }
      const Bucket& bucket = buckets_[it->second];
      carried[it->second].push_back(id);  // may repeat: a small bucket rolls over for epochs
      if (static_cast<int64_t>(carried[it->second].size()) == StepSize(bucket)) {
        return absl::InvalidArgumentError(absl::StrCat(
            kind, ": state 'carried' has ", StepSize(bucket), " samples of one bucket, a step"));
      }
    }
  }
  int64_t expected = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    expected += NumBatches(buckets_[b], carried[b].size());
  }
  if (batches != expected || state_tokens != tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, ": the state is of ", batches, " batches and ", state_tokens,
                     " tokens an epoch, this iterator has ", expected, " and ", tokens));
  }
  if (cursor < 0 || cursor > batches) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, ": state 'cursor' is ", cursor, ", not in [0, ", batches, "]"));
  }
  seed_ = seed;
  epoch_ = epoch;
  carried_ = std::move(carried);
  StartEpoch();
  cursor_ = cursor;
  return absl::OkStatus();
}

}  // namespace cooper
