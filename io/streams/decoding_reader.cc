#include "io/streams/decoding_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr size_t kMaxBlockSamples = 256;
constexpr size_t kMaxBlockBytes = size_t{1} << 20;
constexpr int64_t kGrain = 8;  // samples

}  // namespace

DecodingReader::DecodingReader(std::unique_ptr<EncodedReader> reader, DecodeSample decode,
                               std::atomic<double>* seconds)
    : reader_(std::move(reader)), decode_(std::move(decode)), seconds_(seconds) {}

void DecodingReader::Fill() {
  next_ = size_ = 0;
  block_.resize(std::max(block_.size(), block_samples_));
  for (size_t bytes = 0; size_ < block_samples_ && bytes < kMaxBlockBytes; ++size_) {
    Item& item = block_[size_];
    item.position = reader_->Position();
    follows_ = reader_->Next(&item.encoded);
    if (!follows_.ok() || !*follows_) break;
    bytes += item.encoded.size();
  }
  block_samples_ = std::min(2 * block_samples_, kMaxBlockSamples);
  const auto start = std::chrono::steady_clock::now();
  ParallelForRanges(static_cast<int64_t>(size_), kGrain, kGrain,
                    [this](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        Item& item = block_[i];
                        item.decoded = decode_(item.encoded, item.position, &item.sample);
                      }
                    });
  *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

absl::StatusOr<bool> DecodingReader::Next(Sample* sample) {
  if (next_ == size_ && follows_.ok() && *follows_) Fill();
  if (next_ == size_) return follows_;
  Item& item = block_[next_];
  COOPER_RETURN_IF_ERROR(item.decoded);
  std::swap(*sample, item.sample);
  ++next_;
  return true;
}

int64_t DecodingReader::Position() const {
  return next_ < size_ ? block_[next_].position : reader_->Position();
}

absl::Status DecodingReader::SeekTo(int64_t position) {
  next_ = size_ = 0;
  block_samples_ = 1;
  follows_ = true;
  return reader_->SeekTo(position);
}

}  // namespace cooper
