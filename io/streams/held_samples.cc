#include "io/streams/held_samples.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using TooLong = BucketBoundariesOptions::TooLong;

}  // namespace

HeldSamples::HeldSamples(std::vector<SampleField> fields, HeldSamplesOptions options)
    : options_(std::move(options)), pool_(std::move(fields)), queues_(options_.buckets.size()) {
  for (const HeldSamplesOptions::Bucket& bucket : options_.buckets) {
    max_sample_bytes_ = std::max(max_sample_bytes_, pool_.MaxBytes(bucket.extents));
  }
}

int HeldSamples::FindBucket(Extents extents) const {
  const auto found = std::find_if(options_.buckets.begin(), options_.buckets.end(),
                                  [extents](const HeldSamplesOptions::Bucket& bucket) {
                                    return std::equal(extents.begin(), extents.end(),
                                                      bucket.extents.begin(), std::less_equal<>());
                                  });
  return found == options_.buckets.end() ? -1 : static_cast<int>(found - options_.buckets.begin());
}

int HeldSamples::BucketOf(Extents extents, int64_t piece) const {
  if (options_.too_long == TooLong::kSplit) {
    const int64_t longest = options_.buckets.back().extents[0];
    // An empty sample is a piece too.
    if (piece < 0 || piece > std::max<int64_t>(extents[0] - 1, 0) / longest) return -1;
    const int64_t length = std::min(extents[0] - piece * longest, longest);
    return FindBucket(absl::MakeConstSpan(&length, 1));
  }
  if (piece != 0) return -1;
  const int bucket = FindBucket(extents);
  if (bucket >= 0 || options_.too_long != TooLong::kTruncate) return bucket;
  std::vector<int64_t> kept;
  for (const HeldSamplesOptions::Bucket& other : options_.buckets) {
    kept.push_back(0);
    for (size_t k = 0; k < extents.size(); ++k) {
      kept.back() += std::min(extents[k], other.extents[k]);
    }
  }
  return static_cast<int>(std::max_element(kept.begin(), kept.end()) - kept.begin());
}

HeldSamples::Handle HeldSamples::AddPiece(const Sample& sample, int bucket, const SampleId& id) {
  // The last word of a piece predicts the first one of the next piece; that of a truncated sample
  // predicts nothing.
  const bool and_next = options_.too_long == TooLong::kSplit;
  const int64_t begin = id.piece * options_.buckets.back().extents[0];
  return pool_.Add(sample, begin, options_.buckets[bucket].extents, and_next, id);
}

absl::Status HeldSamples::Add(const Sample& sample, const SamplePlace& place) {
  COOPER_ASSIGN_OR_RETURN(const BucketKey::Tuple extents, pool_.ExtentsOf(sample));
  const auto add = [&](int bucket, int64_t piece) {
    queues_[bucket].free.push_back(AddPiece(sample, bucket, {.place = place, .piece = piece}));
  };
  if (const int bucket = FindBucket(extents); bucket >= 0) {
    add(bucket, 0);
    return absl::OkStatus();
  }
  switch (options_.too_long) {
    case TooLong::kDiscard:
      ++placed_.discarded;
      return absl::OkStatus();
    case TooLong::kTruncate:
      ++placed_.truncated;
      break;
    case TooLong::kSplit:
      ++placed_.split;
      break;
    case TooLong::kError:
      return absl::InvalidArgumentError(absl::StrCat(
          "the sample has ", absl::StrJoin(extents, ", "), " steps, the largest bucket ",
          absl::StrJoin(options_.buckets.back().extents, ", "), " (too_long is kError)"));
  }
  for (int64_t piece = 0;; ++piece) {
    const int bucket = BucketOf(extents, piece);
    if (bucket < 0) return absl::OkStatus();
    add(bucket, piece);
  }
}

void HeldSamples::Clear() {
  pool_.Clear();
  for (Queue& queue : queues_) queue = Queue();
}

bool HeldSamples::IsFull() const {
  if (options_.max_samples > 0 && pool_.size() >= options_.max_samples) return true;
  if (options_.max_bytes > 0 && pool_.bytes() + max_sample_bytes_ > options_.max_bytes) return true;
  if (options_.shuffle) return false;
  for (size_t b = 0; b < queues_.size(); ++b) {
    const int64_t window =
        std::max<int64_t>(options_.sort_batches, 1) * options_.buckets[b].batch_size;
    if (!queues_[b].drawn.empty() || std::ssize(queues_[b].free) >= window) return true;
  }
  return false;
}

std::vector<int64_t> HeldSamples::Counts() const {
  std::vector<int64_t> counts;
  counts.reserve(queues_.size());
  for (const Queue& queue : queues_) {
    counts.push_back(static_cast<int64_t>(queue.drawn.size() + queue.free.size()));
  }
  return counts;
}

absl::Span<const HeldSamples::Handle> HeldSamples::Front(int bucket, RandomGenerator* random) {
  Queue& queue = queues_[bucket];
  if (queue.drawn.empty()) Draw(bucket, random);
  return absl::MakeConstSpan(queue.drawn)
      .subspan(0, static_cast<size_t>(options_.buckets[bucket].batch_size));
}

void HeldSamples::Drop(int bucket) {
  std::vector<Handle>& drawn = queues_[bucket].drawn;
  const auto end = drawn.begin() + std::min(std::ssize(drawn), options_.buckets[bucket].batch_size);
  for (auto row = drawn.begin(); row != end; ++row) pool_.Remove(*row);
  drawn.erase(drawn.begin(), end);
}

void HeldSamples::Draw(int bucket, RandomGenerator* random) {
  Queue& queue = queues_[bucket];
  const int64_t batch_size = options_.buckets[bucket].batch_size;
  const int64_t available = std::ssize(queue.free);
  const int64_t batches =
      std::min(available / batch_size, std::max<int64_t>(options_.sort_batches, 1));
  const int64_t count = batches == 0 ? available : batches * batch_size;
  if (options_.shuffle) {
    // The rows of the last steps of Fisher and Yates come last.
    for (int64_t i = 0; i < count; ++i) {
      const int64_t left = available - i;
      std::swap(queue.free[random->NextBelow(static_cast<uint64_t>(left))], queue.free[left - 1]);
    }
    queue.drawn.assign(queue.free.end() - count, queue.free.end());
    queue.free.resize(static_cast<size_t>(available - count));
  } else {
    queue.drawn.assign(queue.free.begin(), queue.free.begin() + count);
    queue.free.erase(queue.free.begin(), queue.free.begin() + count);
  }
  if (options_.sort_batches > 0) Sort(batch_size, random, &queue.drawn);
}

void HeldSamples::Sort(int64_t batch_size, RandomGenerator* random,
                       std::vector<Handle>* window) const {
  std::stable_sort(window->begin(), window->end(),
                   [this](Handle a, Handle b) { return pool_.length(a) > pool_.length(b); });
  const int64_t batches = std::ssize(*window) / batch_size;
  if (!options_.shuffle || batches < 2) return;
  std::vector<Handle> shuffled;
  shuffled.reserve(window->size());
  for (const int64_t batch : random->Permutation(batches)) {
    const auto begin = window->begin() + batch * batch_size;
    shuffled.insert(shuffled.end(), begin, begin + batch_size);
  }
  *window = std::move(shuffled);
}

void HeldSamples::SaveTo(KeyValues* state) const {
  std::vector<int64_t> sizes, shards, ordinals, positions, pieces;
  for (const Queue& queue : queues_) {
    for (const std::vector<Handle>* handles : {&queue.drawn, &queue.free}) {
      sizes.push_back(std::ssize(*handles));
      for (const Handle handle : *handles) {
        const SampleId& id = pool_.id(handle);
        shards.push_back(id.place.shard);
        ordinals.push_back(id.place.ordinal);
        positions.push_back(id.place.position);
        pieces.push_back(id.piece);
      }
    }
  }
  state->SetInts("held_sizes", sizes);
  state->SetInts("held_shards", shards);
  state->SetInts("held_ordinals", ordinals);
  state->SetInts("held_positions", positions);
  if (options_.too_long == TooLong::kSplit) state->SetInts("held_pieces", pieces);
}

absl::Status HeldSamples::LoadFrom(const KeyValues& state, const SampleSource& source) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, state.GetInts("held_sizes"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> shards, state.GetInts("held_shards"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> ordinals, state.GetInts("held_ordinals"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> positions, state.GetInts("held_positions"));
  std::vector<int64_t> pieces(shards.size());
  if (options_.too_long == TooLong::kSplit) {
    COOPER_ASSIGN_OR_RETURN(pieces, state.GetInts("held_pieces"));
  }
  const size_t count = shards.size();
  if (sizes.size() != 2 * queues_.size() || ordinals.size() != count || positions.size() != count ||
      pieces.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("state 'held_...' has lists of different sizes, or is not of ", queues_.size(),
                     " buckets"));
  }
  Clear();
  // The samples in the order in which the shards hold them, so that each shard is read once.
  std::vector<size_t> by_place(count);
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  std::sort(by_place.begin(), by_place.end(), [&](size_t a, size_t b) {
    return std::pair(shards[a], ordinals[a]) < std::pair(shards[b], ordinals[b]);
  });
  std::vector<Handle> handles(count);
  std::vector<int> buckets(count);
  std::optional<SampleReader> reader;
  Sample sample;
  SamplePlace last = {.shard = -1};
  BucketKey::Tuple extents;
  for (const size_t i : by_place) {
    const SamplePlace place = {
        .shard = shards[i], .ordinal = ordinals[i], .position = positions[i]};
    if (place.shard < 0 || place.shard >= source.num_shards()) {
      return absl::InvalidArgumentError(absl::StrCat("state 'held_shards' has ", place.shard,
                                                     ", not in [0, ", source.num_shards(), ")"));
    }
    const bool is_again = place.shard == last.shard && place.ordinal == last.ordinal;  // a piece
    if (place.shard != last.shard) {
      COOPER_ASSIGN_OR_RETURN(reader, SampleReader::Open(source, place.shard));
    }
    if (!is_again) {
      COOPER_RETURN_IF_ERROR(reader->MoveTo(place));
      COOPER_ASSIGN_OR_RETURN(const bool more, reader->Next(&sample));
      if (!more) {
        return absl::InvalidArgumentError(
            absl::StrCat(source.shard_name(place.shard), " has no sample ", place.ordinal,
                         " at position ", place.position, "; has it changed?"));
      }
      COOPER_ASSIGN_OR_RETURN(extents, pool_.ExtentsOf(sample));
      last = place;
    }
    buckets[i] = BucketOf(extents, pieces[i]);
    if (buckets[i] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          source.shard_name(place.shard), ": sample ", place.ordinal, " has ",
          absl::StrJoin(extents, ", "), " steps and no piece ", pieces[i], "; has it changed?"));
    }
    handles[i] = AddPiece(sample, buckets[i], {.place = place, .piece = pieces[i]});
  }
  size_t next = 0;
  for (size_t q = 0; q < sizes.size(); ++q) {
    const auto bucket = static_cast<int>(q / 2);
    Queue& queue = queues_[bucket];
    for (int64_t k = 0; k < sizes[q]; ++k, ++next) {
      if (next >= count || buckets[next] != bucket) {
        return absl::InvalidArgumentError(
            "state 'held_sizes' puts a sample into a bucket that is not its own; have the shards "
            "changed?");
      }
      (q % 2 == 0 ? queue.drawn : queue.free).push_back(handles[next]);
    }
  }
  if (next == count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("state 'held_sizes' has ", next, " samples of ", count));
}

}  // namespace cooper
