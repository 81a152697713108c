#include "module/predict/requests/request_batcher.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "glog/logging.h"
#include "module/predict/requests/batch_predictor.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

// Limit of max_delay, because times in the far future overflow the clock.
constexpr std::chrono::hours kLongestDelay{24};

struct Waiting {
  RequestSample sample;
  RequestBatcher::Callback done;
  Clock::time_point deadline;
};

// The network of a length, and the requests that wait for it.
struct Bucket {
  int64_t length = 0;
  std::deque<Waiting> waiting;
};

// Calls `done`, and logs its exceptions, which would end the process.
void Deliver(const RequestBatcher::Callback& done, RequestBatcher::Outputs outputs) {
  try {
    done(std::move(outputs));
  } catch (const std::exception& e) {
    LOG(ERROR) << "RequestBatcher: a callback has thrown: " << e.what();
  } catch (...) {
    LOG(ERROR) << "RequestBatcher: a callback has thrown";
  }
}

// Whether computing the samples alone may succeed. An error of memory or of a device would only be
// repeated for each sample.
bool MayBeOneSamples(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsOutOfRange(status);
}

}  // namespace

// The state of a batcher. The threads share it with the batcher, which may be destroyed before they
// end.
class RequestBatcher::Impl {
 public:
  Impl(std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options)
      : options_(std::move(options)),
        network_(std::move(predictor),
                 {.inputs = options_.inputs,
                  .lengths = options_.lengths,
                  .length_name = options_.length_name,
                  .check_finite = options_.check_finite},
                 options_.max_batch_size) {}

  absl::Status Prepare();
  // Starts the threads that serve requests; each shares `self`, which is this object.
  // kResourceExhausted, with no thread running, if the system cannot start all of them.
  absl::Status Start(const std::shared_ptr<Impl>& self);
  // Ends the threads once all requests are answered, and waits for them unless called on one of
  // them.
  void End();
  void Submit(ArrayMap request, Callback done);
  Counts counts() const;

 private:
  absl::Status CheckOptions() const;
  Bucket* BucketOf(int64_t length);
  // Returns the bucket to serve next; null if none is ready. `wake` becomes the time at which one
  // may be.
  Bucket* Ready(Clock::time_point now, Clock::time_point* wake);
  void Serve();
  // Returns the answers by sample. If a batch fails because of its contents, each sample is
  // computed alone.
  std::vector<Outputs> Answer(int64_t length, absl::Span<const RequestSample> samples) const;
  // Calls Answer, and turns an exception into an error for each sample.
  std::vector<Outputs> AnswerOrReport(int64_t length,
                                      absl::Span<const RequestSample> samples) const;

  const RequestBatcherOptions options_;
  const std::chrono::microseconds max_delay_ =
      std::min<std::chrono::microseconds>(options_.max_delay, kLongestDelay);
  BatchPredictor network_;
  std::vector<Bucket> buckets_;  // by rising length; a single one without lengths

  mutable std::mutex mutex_;  // guards the members below and the buckets' queues
  std::condition_variable wake_;
  int64_t waiting_ = 0;
  bool ending_ = false;
  Counts counts_;
  std::vector<std::thread> threads_;
};

absl::Status RequestBatcher::Impl::CheckOptions() const {
  if (options_.max_batch_size < 1 || options_.num_threads < 1 || options_.max_waiting < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RequestBatcher: max_batch_size is ", options_.max_batch_size, ", num_threads ",
        options_.num_threads, ", max_waiting ", options_.max_waiting, ": expected at least 1"));
  }
  if (options_.max_delay < std::chrono::microseconds::zero()) {
    return absl::InvalidArgumentError(absl::StrCat("RequestBatcher: max_delay is ",
                                                   options_.max_delay.count(),
                                                   " microseconds, expected at least 0"));
  }
  return absl::OkStatus();
}

absl::Status RequestBatcher::Impl::Prepare() {
  COOPER_RETURN_IF_ERROR(CheckOptions());
  COOPER_RETURN_IF_ERROR(network_.Prepare());
  for (const int64_t length : options_.lengths) buckets_.push_back({.length = length});
  if (buckets_.empty()) buckets_.emplace_back();
  return absl::OkStatus();
}

absl::Status RequestBatcher::Impl::Start(const std::shared_ptr<Impl>& self) {
  try {
    for (int i = 0; i < options_.num_threads; ++i) {
      threads_.emplace_back([self] { self->Serve(); });
    }
  } catch (const std::system_error& error) {
    const size_t started = threads_.size();
    End();
    return absl::ResourceExhaustedError(absl::StrCat("RequestBatcher: of num_threads ",
                                                     options_.num_threads, " the system gave ",
                                                     started, ": ", error.what()));
  }
  return absl::OkStatus();
}

void RequestBatcher::Impl::End() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  const bool on_own_thread = absl::c_any_of(threads_, [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  for (std::thread& thread : threads_) {
    if (on_own_thread) {
      // Detached, since the other threads may be in callbacks that wait for this one.
      thread.detach();
    } else {
      thread.join();
    }
  }
}

Bucket* RequestBatcher::Impl::BucketOf(int64_t length) {
  return &*absl::c_lower_bound(buckets_, length, [](const Bucket& bucket, int64_t wanted) {
    return bucket.length < wanted;
  });
}

void RequestBatcher::Impl::Submit(ArrayMap request, Callback done) {
  if (!done) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.refused;
    return;
  }
  const absl::StatusOr<int64_t> length = network_.format().CheckRequest(request);
  absl::Status status = length.status();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok() && waiting_ >= options_.max_waiting) {
      status = absl::ResourceExhaustedError(
          absl::StrCat(waiting_, " requests wait already (max_waiting)"));
    }
    if (status.ok()) {
      ++waiting_;
      BucketOf(*length)->waiting.push_back(
          {.sample = {.arrays = std::move(request), .length = *length},
           .done = std::move(done),
           .deadline = Clock::now() + max_delay_});
      wake_.notify_one();
      return;
    }
    ++counts_.refused;
  }
  Deliver(done, status);
}

Bucket* RequestBatcher::Impl::Ready(Clock::time_point now, Clock::time_point* wake) {
  Bucket* first = nullptr;
  for (Bucket& bucket : buckets_) {
    if (bucket.waiting.empty()) continue;
    const Clock::time_point deadline = bucket.waiting.front().deadline;
    const bool full = static_cast<int64_t>(bucket.waiting.size()) >= options_.max_batch_size;
    if (!full && !ending_ && deadline > now) {
      *wake = std::min(*wake, deadline);
    } else if (first == nullptr || deadline < first->waiting.front().deadline) {
      first = &bucket;
    }
  }
  return first;
}

void RequestBatcher::Impl::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    Clock::time_point wake = Clock::time_point::max();
    Bucket* bucket = Ready(Clock::now(), &wake);
    if (bucket == nullptr) {
      if (ending_ && waiting_ == 0) return;
      if (wake == Clock::time_point::max()) {
        wake_.wait(lock);
      } else {
        wake_.wait_until(lock, wake);
      }
      continue;
    }
    const auto count =
        std::min<size_t>(bucket->waiting.size(), static_cast<size_t>(options_.max_batch_size));
    std::vector<RequestSample> samples;
    std::vector<Callback> callbacks;
    for (size_t i = 0; i < count; ++i) {
      Waiting& next = bucket->waiting.front();
      samples.push_back(std::move(next.sample));
      callbacks.push_back(std::move(next.done));
      bucket->waiting.pop_front();
    }
    waiting_ -= static_cast<int64_t>(count);
    counts_.requests += static_cast<int64_t>(count);
    ++counts_.batches;
    // Wake another thread for the remaining deadlines: this thread may have been the only one
    // waiting for them.
    if (waiting_ > 0) wake_.notify_one();
    lock.unlock();
    std::vector<Outputs> answers = AnswerOrReport(bucket->length, samples);
    for (size_t i = 0; i < count; ++i) {
      const Callback done = std::move(callbacks[i]);
      Deliver(done, std::move(answers[i]));
    }
    samples.clear();
    lock.lock();
    if (ending_) wake_.notify_all();
  }
}

// An exception of the function that makes a network would otherwise end the process.
std::vector<RequestBatcher::Outputs> RequestBatcher::Impl::AnswerOrReport(
    int64_t length, absl::Span<const RequestSample> samples) const {
  absl::Status thrown;
  try {
    return Answer(length, samples);
  } catch (const std::exception& error) {
    thrown = absl::InternalError(absl::StrCat("the batch of this request threw: ", error.what()));
  } catch (...) {
    thrown = absl::InternalError("the batch of this request threw what is no std::exception");
  }
  return std::vector<Outputs>(samples.size(), thrown);
}

std::vector<RequestBatcher::Outputs> RequestBatcher::Impl::Answer(
    int64_t length, absl::Span<const RequestSample> samples) const {
  std::vector<Outputs> answers;
  auto batch = network_.Predict(length, samples);
  if (batch.ok()) {
    for (std::vector<NDArray>& outputs : *batch) answers.emplace_back(std::move(outputs));
  } else if (samples.size() == 1 || !MayBeOneSamples(batch.status())) {
    answers.assign(samples.size(), batch.status());
  } else {
    for (size_t i = 0; i < samples.size(); ++i) {
      answers.push_back(std::move(Answer(length, samples.subspan(i, 1))[0]));
    }
  }
  return answers;
}

RequestBatcher::Counts RequestBatcher::Impl::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

RequestBatcher::RequestBatcher(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
RequestBatcher::~RequestBatcher() { impl_->End(); }

absl::StatusOr<std::unique_ptr<RequestBatcher>> RequestBatcher::Create(
    std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options) {
  auto impl = std::make_shared<Impl>(std::move(predictor), std::move(options));
  COOPER_RETURN_IF_ERROR(impl->Prepare());
  COOPER_RETURN_IF_ERROR(impl->Start(impl));
  return std::unique_ptr<RequestBatcher>(new RequestBatcher(std::move(impl)));
}

std::future<RequestBatcher::Outputs> RequestBatcher::Submit(ArrayMap request) {
  auto promise = std::make_shared<std::promise<Outputs>>();
  std::future<Outputs> future = promise->get_future();
  impl_->Submit(std::move(request),
                [promise](Outputs outputs) { promise->set_value(std::move(outputs)); });
  return future;
}

void RequestBatcher::Submit(ArrayMap request, Callback done) {
  impl_->Submit(std::move(request), std::move(done));
}

RequestBatcher::Counts RequestBatcher::counts() const { return impl_->counts(); }

}  // namespace cooper
