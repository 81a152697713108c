#include "io/iterators/prefetching_iter.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "PrefetchingIter";

using MaybeBatch = absl::StatusOr<std::optional<DataBatch>>;

bool IsLast(const MaybeBatch& batch) { return !batch.ok() || !batch->has_value(); }

void Rename(const std::vector<std::map<std::string, std::string>>& names, size_t source,
            std::vector<DataDesc>* descs) {
  if (source >= names.size()) return;
  for (DataDesc& desc : *descs) {
    const auto it = names[source].find(desc.name);
    if (it != names[source].end()) desc.name = it->second;
  }
}

std::string KeyText(const std::optional<BucketKey>& key) {
  return key.has_value() ? key->ToString() : "none";
}

// Returns fn(), with exceptions converted to errors: on the thread of a source they would end the
// process.
template <typename Fn>
auto WithoutExceptions(const Fn& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("PrefetchingIter: a source threw: ", error.what()));
  } catch (...) {
    return absl::InternalError("PrefetchingIter: a source threw what is no std::exception");
  }
}

template <typename T>
void Append(std::vector<T>&& more, std::vector<T>* all) {
  std::move(more.begin(), more.end(), std::back_inserter(*all));
}

}  // namespace

// An iterator and the thread that reads ahead on it.
class PrefetchingIter::Source {
 public:
  Source(std::unique_ptr<DataIter> iter, size_t depth)
      : iter_(std::move(iter)),
        depth_(depth),
        provide_data_(iter_->provide_data()),
        provide_label_(iter_->provide_label()) {
    thread_ = std::thread([this] { Run(); });
  }

  ~Source() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Waits for the next batch and returns it without removing it.
  const MaybeBatch& Front() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !made_.empty(); });
    return made_.front().batch;  // only the caller pops
  }

  // Removes the next batch. After an error the thread tries again; the end of the epoch stays.
  MaybeBatch Pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    MaybeBatch batch = std::move(made_.front().batch);
    made_.pop_front();
    if (!batch.ok()) paused_ = false;
    lock.unlock();
    changed_.notify_all();
    return batch;
  }

  // Records that the reader has seen the end of the epoch, which is the next entry. Some iterators
  // change there, and begin the next epoch with the samples that are left.
  void PassEnd() {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The thread is idle here.
    made_.front().state = WithoutExceptions([this] { return iter_->SaveState(); });
  }

  // Returns the state at the reader's position.
  absl::StatusOr<std::string> SaveState() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !made_.empty(); });
    return made_.front().state;
  }

  UnusedSamples unused_samples() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    return iter_->unused_samples();
  }

  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    return iter_->bucket_shapes(key);
  }

  absl::Status LoadState(const std::string& state) {
    return Restart([&](DataIter& iter) { return iter.LoadState(state); });
  }

  // Resets from the reader's position, however far the thread has read ahead, if the iterator
  // supports states.
  absl::Status Reset(bool hard) {
    return Restart([this, hard](DataIter& iter) -> absl::Status {
      if (!made_.empty() && made_.front().state.ok()) {
        COOPER_RETURN_IF_ERROR(iter.LoadState(*made_.front().state));
        made_.clear();  // it will be made again, should the iterator refuse to be reset
      }
      return hard ? iter.HardReset() : iter.Reset();
    });
  }

  // Return the iterator's descriptions from before the thread started.
  const std::vector<DataDesc>& provide_data() const { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const { return provide_label_; }

 private:
  struct Made {
    MaybeBatch batch;
    // The iterator's state for a reader whose next entry is this one: before the batch, or after
    // the end of the epoch once the reader has seen it.
    absl::StatusOr<std::string> state;
  };

  // Calls `change` on the iterator while the thread is idle. On success drops the batches made
  // earlier.
  template <typename Change>
  absl::Status Restart(const Change& change) {
    std::unique_lock<std::mutex> lock(mutex_);
    paused_ = true;
    changed_.wait(lock, [this] { return !busy_; });
    absl::Status status = WithoutExceptions([&] { return change(*iter_); });
    if (status.ok()) made_.clear();
    // Batches made before an error are still valid, unless the last one ended the epoch.
    paused_ = !made_.empty() && IsLast(made_.back().batch);
    lock.unlock();
    changed_.notify_all();
    return status;
  }

  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || (!paused_ && made_.size() < depth_); });
      if (stop_) return;
      busy_ = true;
      lock.unlock();
      // Only this thread uses the iterator while busy_ is set.
      absl::StatusOr<std::string> state = WithoutExceptions([this] { return iter_->SaveState(); });
      MaybeBatch batch = WithoutExceptions([this] { return iter_->Next(); });
      lock.lock();
      busy_ = false;
      if (IsLast(batch)) paused_ = true;
      made_.push_back({std::move(batch), std::move(state)});
      changed_.notify_all();
    }
  }

  const std::unique_ptr<DataIter> iter_;
  const size_t depth_;
  const std::vector<DataDesc> provide_data_, provide_label_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> made_;
  bool busy_ = false;    // the thread is in the iterator
  bool paused_ = false;  // the thread may not enter it
  bool stop_ = false;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<PrefetchingIter>> PrefetchingIter::Create(
    std::vector<std::unique_ptr<DataIter>> iters, PrefetchingIterOptions options) {
  if (iters.empty()) return absl::InvalidArgumentError("PrefetchingIter: no source");
  auto result = std::unique_ptr<PrefetchingIter>(new PrefetchingIter());
  result->batch_size_ = iters[0]->batch_size();
  result->default_bucket_key_ = iters[0]->default_bucket_key();
  result->bucket_keys_ = iters[0]->bucket_keys();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i]->batch_size() != result->batch_size_ ||
        iters[i]->default_bucket_key() != result->default_bucket_key_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "PrefetchingIter: source ", i, " has batches of ", iters[i]->batch_size(),
          " and the default bucket key ", KeyText(iters[i]->default_bucket_key()), ", source 0 of ",
          result->batch_size_, " and ", KeyText(result->default_bucket_key_)));
    }
    std::vector<DataDesc> data = iters[i]->provide_data();
    std::vector<DataDesc> label = iters[i]->provide_label();
    Rename(options.rename_data, i, &data);
    Rename(options.rename_label, i, &label);
    const std::pair<const std::vector<DataDesc>&, const std::vector<DataDesc>&> kinds[] = {
        {iters[i]->provide_data(), data}, {iters[i]->provide_label(), label}};
    for (const auto& [own, renamed] : kinds) {
      for (size_t k = 0; k < own.size(); ++k) {
        result->invalid_labels_[renamed[k].name] = iters[i]->invalid_label(own[k].name);
      }
    }
    Append(std::move(data), &result->provide_data_);
    Append(std::move(label), &result->provide_label_);
  }
  const auto depth = static_cast<size_t>(std::max(options.depth, 1));
  result->options_ = std::move(options);
  try {
    for (std::unique_ptr<DataIter>& iter : iters) {
      result->sources_.push_back(std::make_unique<Source>(std::move(iter), depth));
    }
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("PrefetchingIter: no thread for source ",
                                                     result->sources_.size(), ": ", error.what()));
  }
  result->is_reset_.assign(result->sources_.size(), false);
  return result;
}

PrefetchingIter::~PrefetchingIter() = default;

absl::StatusOr<std::optional<DataBatch>> PrefetchingIter::Next() {
  COOPER_RETURN_IF_ERROR(CheckReset());
  size_t ended = 0;
  const DataBatch* first = nullptr;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const MaybeBatch& front = sources_[i]->Front();
    if (!front.ok()) {
      return AddContext(sources_[i]->Pop().status(), "PrefetchingIter: source ", i);
    }
    if (!front->has_value()) {
      ++ended;
    } else if (first == nullptr) {
      first = &**front;
    } else if ((*front)->pad != first->pad || (*front)->bucket_key != first->bucket_key) {
      return absl::FailedPreconditionError(absl::StrCat(
          "PrefetchingIter: the batch of source ", i, " has pad ", (*front)->pad,
          " and the bucket key ", KeyText((*front)->bucket_key), ", that of an earlier source pad ",
          first->pad, " and ", KeyText(first->bucket_key)));
    }
  }
  if (ended == sources_.size()) {
    for (const auto& source : sources_) source->PassEnd();
    return std::nullopt;
  }
  if (ended > 0) {
    return absl::FailedPreconditionError(absl::StrCat("PrefetchingIter: ", ended, " of ",
                                                      sources_.size(),
                                                      " sources have ended before the others"));
  }

  DataBatch joined;
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, sources_[i]->Pop());
    if (batch->provide_data.empty()) batch->provide_data = sources_[i]->provide_data();
    if (batch->provide_label.empty()) batch->provide_label = sources_[i]->provide_label();
    Rename(options_.rename_data, i, &batch->provide_data);
    Rename(options_.rename_label, i, &batch->provide_label);
    if (i == 0) {
      joined = *std::move(batch);
      continue;
    }
    Append(std::move(batch->data), &joined.data);
    Append(std::move(batch->label), &joined.label);
    Append(std::move(batch->provide_data), &joined.provide_data);
    Append(std::move(batch->provide_label), &joined.provide_label);
  }
  return joined;
}

UnusedSamples PrefetchingIter::unused_samples() const { return sources_[0]->unused_samples(); }

absl::Status PrefetchingIter::Reset() { return ResetSources(/*hard=*/false); }

absl::Status PrefetchingIter::HardReset() { return ResetSources(/*hard=*/true); }

absl::Status PrefetchingIter::ResetSources(bool hard) {
  // A reset that has begun is first completed as the kind that it was.
  if (hard && !is_hard_ && IsPartlyReset()) COOPER_RETURN_IF_ERROR(ResetSources(false));
  if (!IsPartlyReset()) is_hard_ = hard;
  absl::Status status;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (is_reset_[i]) continue;
    const absl::Status reset = sources_[i]->Reset(is_hard_);
    is_reset_[i] = reset.ok();
    status.Update(reset);
  }
  if (status.ok()) is_reset_.assign(sources_.size(), false);
  return status;
}

bool PrefetchingIter::IsPartlyReset() const {
  return std::find(is_reset_.begin(), is_reset_.end(), true) != is_reset_.end();
}

absl::Status PrefetchingIter::CheckReset() const {
  if (!IsPartlyReset()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "PrefetchingIter: some sources are in the next epoch and others are not, since one could not "
      "be reset: call Reset again");
}

std::optional<BucketKey> PrefetchingIter::default_bucket_key() const { return default_bucket_key_; }

absl::StatusOr<BucketShapes> PrefetchingIter::bucket_shapes(const BucketKey& key) const {
  BucketShapes joined = {.key = key};
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(BucketShapes shapes, sources_[i]->bucket_shapes(key));
    Rename(options_.rename_data, i, &shapes.data_shapes);
    Rename(options_.rename_label, i, &shapes.label_shapes);
    Append(std::move(shapes.data_shapes), &joined.data_shapes);
    Append(std::move(shapes.label_shapes), &joined.label_shapes);
  }
  return joined;
}

absl::StatusOr<std::string> PrefetchingIter::SaveState() const {
  COOPER_RETURN_IF_ERROR(CheckReset());
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetInt("sources", static_cast<int64_t>(sources_.size()));
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const std::string source, sources_[i]->SaveState());
    state.SetString(absl::StrCat("source", i), source);
  }
  return state.ToString();
}

absl::Status PrefetchingIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(const int64_t sources, state.GetInt("sources"));
  if (sources != static_cast<int64_t>(sources_.size())) {
    return absl::InvalidArgumentError(absl::StrCat("PrefetchingIter: the state is of ", sources,
                                                   " sources, there are ", sources_.size()));
  }
  std::vector<std::string> present, loaded;
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(loaded.emplace_back(), state.GetString(absl::StrCat("source", i)));
    COOPER_ASSIGN_OR_RETURN(present.emplace_back(), sources_[i]->SaveState());
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    absl::Status status = sources_[i]->LoadState(loaded[i]);
    if (status.ok()) continue;
    // Moves the sources back, so that none is ahead of the others.
    for (size_t k = 0; k < i; ++k) sources_[k]->LoadState(present[k]).IgnoreError();
    return status;
  }
  is_reset_.assign(sources_.size(), false);
  return absl::OkStatus();
}

}  // namespace cooper
