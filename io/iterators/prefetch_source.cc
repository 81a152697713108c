#include "io/iterators/prefetch_source.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

bool IsLast(const PrefetchSource::MaybeBatch& batch) { return !batch.ok() || !batch->has_value(); }

// Returns fn(), with exceptions converted to errors: on the thread of a source they would end the
// process.
template <typename Fn>
auto WithoutExceptions(const Fn& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("PrefetchingIter: a source threw: ", error.what()));
  } catch (...) {
    return absl::InternalError(
        "PrefetchingIter: a source threw an object that is not a std::exception");
  }
}

}  // namespace

PrefetchSource::PrefetchSource(std::unique_ptr<DataIter> iter, size_t depth)
    : iter_(std::move(iter)),
      depth_(depth),
      provide_data_(iter_->provide_data()),
      provide_label_(iter_->provide_label()) {
  thread_ = std::thread([this] { Run(); });
}

PrefetchSource::~PrefetchSource() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PrefetchSource::WaitUntilIdle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !busy_; });
}

const PrefetchSource::MaybeBatch& PrefetchSource::Front() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !entries_.empty(); });
  return entries_.front().batch;  // only the caller pops
}

PrefetchSource::MaybeBatch PrefetchSource::Pop() {
  std::unique_lock<std::mutex> lock(mutex_);
  MaybeBatch batch = std::move(entries_.front().batch);
  entries_.pop_front();
  if (!batch.ok()) paused_ = false;
  lock.unlock();
  changed_.notify_all();
  return batch;
}

void PrefetchSource::PassEnd() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The thread is idle here.
  entries_.front().state = WithoutExceptions([this] { return iter_->SaveState(); });
}

absl::StatusOr<std::string> PrefetchSource::SaveState() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !entries_.empty(); });
  return entries_.front().state;
}

absl::Status PrefetchSource::LoadState(const std::string& state) {
  return Restart([&](DataIter& iter) { return iter.LoadState(state); });
}

absl::Status PrefetchSource::Reset(bool hard) {
  return Restart([this, hard](DataIter& iter) -> absl::Status {
    if (!entries_.empty() && entries_.front().state.ok()) {
      COOPER_RETURN_IF_ERROR(iter.LoadState(*entries_.front().state));
      entries_.clear();  // they are read again if the reset below fails
    }
    return hard ? iter.HardReset() : iter.Reset();
  });
}

UnusedSamples PrefetchSource::unused_samples() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return iter_->unused_samples();
}

absl::StatusOr<BucketShapes> PrefetchSource::bucket_shapes(const BucketKey& key) {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return iter_->bucket_shapes(key);
}

absl::Status PrefetchSource::Restart(const std::function<absl::Status(DataIter&)>& change) {
  std::unique_lock<std::mutex> lock(mutex_);
  paused_ = true;
  WaitUntilIdle(lock);
  absl::Status status = WithoutExceptions([&] { return change(*iter_); });
  if (status.ok()) entries_.clear();
  // Batches read before an error are still valid, unless the last one ended the epoch.
  paused_ = !entries_.empty() && IsLast(entries_.back().batch);
  lock.unlock();
  changed_.notify_all();
  return status;
}

void PrefetchSource::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || (!paused_ && entries_.size() < depth_); });
    if (stop_) return;
    busy_ = true;
    lock.unlock();
    // Only this thread uses the iterator while busy_ is set.
    absl::StatusOr<std::string> state = WithoutExceptions([this] { return iter_->SaveState(); });
    MaybeBatch batch = WithoutExceptions([this] { return iter_->Next(); });
    lock.lock();
    busy_ = false;
    if (IsLast(batch)) paused_ = true;
    entries_.push_back({std::move(batch), std::move(state)});
    changed_.notify_all();
  }
}

}  // namespace cooper
