#include "io/streams/sample_pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

// Aligns every element: none has more than 8 bytes.
constexpr int64_t kAlignment = 8;
constexpr int64_t kFirstBytes = int64_t{1} << 16;

int64_t AlignUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

SamplePool::SamplePool(std::vector<SampleField> fields) : fields_(std::move(fields)) {
  for (const SampleField& field : fields_) key_rank_ = std::max(key_rank_, field.pad_to + 1);
}

int64_t SamplePool::FieldBytes(size_t field, int64_t steps) const {
  return AlignUp(steps * fields_[field].step_bytes());
}

int64_t SamplePool::MaxBytes(absl::Span<const int64_t> bucket) const {
  int64_t bytes = 0;
  for (size_t f = 0; f < fields_.size(); ++f) {
    bytes += 2 * static_cast<int64_t>(sizeof(int64_t)) +
             FieldBytes(f, fields_[f].is_sequence ? bucket[fields_[f].pad_to] + 1 : 1);
  }
  return bytes;
}

absl::StatusOr<BucketKey::Tuple> SamplePool::ExtentsOf(const Sample& sample) const {
  if (sample.num_fields() != fields_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the sample has ", sample.num_fields(),
                                                   " fields, the source says ", fields_.size()));
  }
  BucketKey::Tuple extents(static_cast<size_t>(key_rank_), 0);
  for (size_t f = 0; f < fields_.size(); ++f) {
    const SampleField& field = fields_[f];
    const int64_t bytes = std::ssize(sample.bytes(f));
    const int64_t steps = bytes / field.step_bytes();
    if (sample.dtype(f) != field.dtype && bytes > 0) {
      return absl::InvalidArgumentError(absl::StrCat("field ", f, " of the sample is of ",
                                                     DTypeName(sample.dtype(f)),
                                                     ", the source says ", DTypeName(field.dtype)));
    }
    if (bytes % field.step_bytes() != 0 || (!field.is_sequence && steps != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "field ", f, " of the sample has ", bytes / SizeOf(field.dtype), " elements, expected ",
          field.is_sequence ? "a multiple of " : "", field.step.num_elements()));
    }
    if (!field.is_sequence) continue;
    int64_t& extent = extents[static_cast<size_t>(field.pad_to)];
    extent = std::max(extent, steps);
  }
  return extents;
}

SamplePool::Handle SamplePool::Add(const Sample& sample, int64_t begin,
                                   absl::Span<const int64_t> bucket, bool and_next,
                                   const SampleId& id) {
  extents_.clear();
  int64_t length = 0;
  int64_t bytes = static_cast<int64_t>(2 * fields_.size() * sizeof(int64_t));
  for (size_t f = 0; f < fields_.size(); ++f) {
    int64_t steps = 1, stored = 1;
    if (fields_[f].is_sequence) {
      const int64_t all = std::ssize(sample.bytes(f)) / fields_[f].step_bytes();
      const int64_t most = bucket[fields_[f].pad_to];
      steps = std::clamp<int64_t>(all - begin, 0, most);
      stored = std::clamp<int64_t>(all - begin, 0, most + (and_next ? 1 : 0));
      length = std::max(length, steps);
    }
    extents_.push_back(steps);
    extents_.push_back(stored);
    bytes += FieldBytes(f, stored);
  }
  MakeRoom(bytes);

  Handle handle;
  if (free_.empty()) {
    handle = static_cast<Handle>(entries_.size());
    entries_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  entries_[handle] = {.id = id, .offset = used_, .bytes = bytes, .length = length, .is_live = true};
  in_order_.push_back(handle);
  char* to = buffer_.data() + used_;
  std::memcpy(to, extents_.data(), extents_.size() * sizeof(int64_t));
  to += extents_.size() * sizeof(int64_t);
  for (size_t f = 0; f < fields_.size(); ++f) {
    const int64_t stored = extents_[2 * f + 1];
    const int64_t skipped = fields_[f].is_sequence ? begin : 0;
    if (stored > 0) {
      std::memcpy(to, sample.bytes(f).data() + skipped * fields_[f].step_bytes(),
                  static_cast<size_t>(stored * fields_[f].step_bytes()));
    }
    to += FieldBytes(f, stored);
  }
  used_ += bytes;
  live_bytes_ += bytes;
  ++num_live_;
  return handle;
}

void SamplePool::Remove(Handle handle) {
  Entry& entry = entries_[handle];
  entry.is_live = false;  // its handle is free after the next compaction
  live_bytes_ -= entry.bytes;
  --num_live_;
}

void SamplePool::Clear() {
  used_ = live_bytes_ = num_live_ = 0;
  entries_.clear();
  in_order_.clear();
  free_.clear();
}

void SamplePool::MakeRoom(int64_t bytes) {
  const auto capacity = [this] { return std::ssize(buffer_); };
  if (used_ + bytes <= capacity()) return;
  if (used_ - live_bytes_ >= capacity() / 4) {
    int64_t to = 0;
    size_t kept = 0;
    for (const Handle handle : in_order_) {
      Entry& entry = entries_[handle];
      if (!entry.is_live) {
        free_.push_back(handle);
        continue;
      }
      std::memmove(buffer_.data() + to, buffer_.data() + entry.offset,
                   static_cast<size_t>(entry.bytes));
      entry.offset = to;
      to += entry.bytes;
      in_order_[kept++] = handle;
    }
    in_order_.resize(kept);
    used_ = to;
  }
  if (used_ + bytes <= capacity()) return;
  buffer_.resize(
      static_cast<size_t>(std::max({kFirstBytes, capacity() + capacity() / 2, used_ + bytes})));
}

const char* SamplePool::data(Handle handle, size_t field) const {
  const int64_t* const own = extents(handle);
  const char* at = reinterpret_cast<const char*>(own + 2 * fields_.size());
  for (size_t f = 0; f < field; ++f) at += FieldBytes(f, own[2 * f + 1]);
  return at;
}

}  // namespace cooper
