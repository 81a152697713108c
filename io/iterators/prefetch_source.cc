#include "io/iterators/prefetch_source.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A new state is saved once the arrays of the batches since the last one have this many times its
// bytes, so saving takes little of the time. A restore reads at most these batches and one more.
constexpr int64_t kBytesPerStateByte = 16;

int64_t ArrayBytes(const DataBatch& batch) {
  int64_t bytes = 0;
  for (const NDArray& array : batch.data) bytes += array.size_bytes();
  for (const NDArray& array : batch.label) bytes += array.size_bytes();
  return bytes;
}

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

PrefetchSource::PrefetchSource(std::unique_ptr<DataIter> iter, size_t depth, int64_t max_bytes)
    : iter_(std::move(iter)),
      depth_(depth),
      max_bytes_(max_bytes),
      provide_data_(iter_->provide_data()),
      provide_label_(iter_->provide_label()),
      statistics_(iter_->statistics()),
      bucket_keys_(iter_->bucket_keys()) {
  thread_ = std::thread([this, threads = NumThreads()] {
    SetNumThreads(threads);  // a new thread has a limit of its own
    Run();
  });
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
  statistics_ = entries_.front().statistics;
  entries_.pop_front();
  if (!batch.ok()) paused_ = false;
  lock.unlock();
  changed_.notify_all();
  return batch;
}

void PrefetchSource::PassEnd() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The thread is idle here.
  progress_ = {};
  SaveIfDue();
  entries_.front().at = progress_;
  statistics_ = entries_.front().statistics;
}

void PrefetchSource::SaveIfDue() {
  if (progress_.state != nullptr && progress_.state->ok() &&
      progress_.bytes < kBytesPerStateByte * std::ssize(**progress_.state)) {
    return;
  }
  progress_ = {.state = std::make_shared<const absl::StatusOr<std::string>>(
                   WithoutExceptions([this] { return iter_->SaveState(); }))};
}

absl::StatusOr<PrefetchPosition> PrefetchSource::SaveState() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !entries_.empty(); });
  const Progress& at = entries_.front().at;
  COOPER_RETURN_IF_ERROR(at.state->status());
  return PrefetchPosition{.state = **at.state, .batches = at.batches};
}

absl::Status PrefetchSource::MoveTo(const SavedState& state, int64_t batches) {
  const Progress before = progress_;
  std::string state_before;
  if (batches > 0) {
    COOPER_ASSIGN_OR_RETURN(state_before, iter_->SaveState());
  }
  const auto load = [this](const std::string& text) {
    return WithoutExceptions([&] { return iter_->LoadState(text); });
  };
  COOPER_RETURN_IF_ERROR(load(**state));
  progress_ = {.state = state};
  absl::Status passed = WithoutExceptions([&] { return Pass(batches); });
  if (passed.ok()) return passed;
  progress_ = before;
  load(state_before).IgnoreError();
  return passed;
}

absl::Status PrefetchSource::Pass(int64_t batches) {
  while (progress_.batches < batches) {
    COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, iter_->Next());
    if (!batch.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the state asks for ", batches,
                       " batches after its saved position, but the epoch has only ",
                       progress_.batches, " there"));
    }
    ++progress_.batches;
    progress_.bytes += ArrayBytes(*batch);
  }
  return absl::OkStatus();
}

absl::Status PrefetchSource::LoadState(const PrefetchPosition& position) {
  return Restart([&](DataIter&) {
    return MoveTo(std::make_shared<const absl::StatusOr<std::string>>(position.state),
                  position.batches);
  });
}

absl::Status PrefetchSource::Reset(bool hard) {
  return Restart([this, hard](DataIter& iter) -> absl::Status {
    if (!entries_.empty() && entries_.front().at.state->ok()) {
      const Progress at = entries_.front().at;
      COOPER_RETURN_IF_ERROR(MoveTo(at.state, at.batches));
      entries_.clear();  // they are read again if the reset below fails
    }
    COOPER_RETURN_IF_ERROR(hard ? iter.HardReset() : iter.Reset());
    progress_ = {};
    return absl::OkStatus();
  });
}

UnusedSamples PrefetchSource::unused_samples() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return iter_->unused_samples();
}

DataStatistics PrefetchSource::statistics() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return statistics_;
}

std::vector<BucketKey> PrefetchSource::bucket_keys() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bucket_keys_;
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
  absl::Status status = WithoutExceptions([&]() -> absl::Status {
    COOPER_RETURN_IF_ERROR(change(*iter_));
    entries_.clear();
    statistics_ = iter_->statistics();
    bucket_keys_ = iter_->bucket_keys();
    return absl::OkStatus();
  });
  // Batches read before an error are still valid, unless the last one ended the epoch.
  paused_ = !entries_.empty() && IsLast(entries_.back().batch);
  lock.unlock();
  changed_.notify_all();
  return status;
}

bool PrefetchSource::MayReadAhead() const {
  int64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.bytes;
  return !paused_ && entries_.size() < depth_ &&
         (entries_.empty() || max_bytes_ == 0 || bytes < max_bytes_);
}

void PrefetchSource::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || MayReadAhead(); });
    if (stop_) return;
    busy_ = true;
    lock.unlock();
    // Only this thread uses the iterator while busy_ is set.
    SaveIfDue();
    DataStatistics statistics;
    Entry entry = {.batch = WithoutExceptions([&]() -> MaybeBatch {
                     MaybeBatch batch = iter_->Next();
                     statistics = iter_->statistics();
                     return batch;
                   }),
                   .at = progress_};
    entry.statistics = statistics;
    const bool is_last = IsLast(entry.batch);
    if (!is_last) {
      entry.bytes = ArrayBytes(**entry.batch);
      ++progress_.batches;
      progress_.bytes += entry.bytes;
    }
    lock.lock();
    busy_ = false;
    if (is_last) paused_ = true;
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }
}

}  // namespace cooper
