#include "module/predict/request_batcher.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/data_desc.h"
#include "module/predict/batch_rows.h"
#include "module/predict/request_format.h"
#include "module/sample_rows.h"
#include "ndarray/dtype.h"
#include "ndarray/on_cpu.h"
#include "ndarray/random.h"
#include "ndarray/status_macros.h"
#include "symbol/infer_shape.h"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

// Of the numbers in samples that are made up, to find out how a network places their rows. Small
// ones are valid as anything: words, categories, features. Most networks are told apart by the
// first batch, of 0 and 1.
constexpr uint64_t kMaxMadeUp = 16;

struct Waiting {
  ArrayMap request;
  int64_t length = 0;
  RequestBatcher::Callback done;
  Clock::time_point deadline;
};

// The network of a length, and the requests that wait for it.
struct Bucket {
  int64_t length = 0;
  std::deque<Waiting> waiting;
};

}  // namespace

class RequestBatcher::Impl {
 public:
  Impl(std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options)
      : predictor_(std::move(predictor)),
        options_(std::move(options)),
        format_({.inputs = options_.inputs,
                 .lengths = options_.lengths,
                 .length_name = options_.length_name,
                 .check_finite = options_.check_finite}) {}
  ~Impl();

  absl::Status Prepare();
  void Start();
  void Submit(ArrayMap request, Callback done);
  Counts counts() const;

 private:
  absl::Status CheckOptions() const;
  absl::Status CheckDTypes(int64_t length);
  absl::StatusOr<OutputShapes> PrepareFor(int64_t key, int64_t batch_size, int64_t length) const;
  absl::Status FindOrderOfPositions(int64_t length);
  absl::StatusOr<std::vector<Waiting>> MakeUpBatch(int64_t length, uint64_t bound) const;
  Bucket* BucketOf(int64_t length);
  // The bucket whose turn it is; null if none is ready. `wake` is when one may be.
  Bucket* Ready(Clock::time_point now, Clock::time_point* wake);
  void Serve();
  absl::StatusOr<std::vector<NDArray>> Compute(int64_t length, absl::Span<const Waiting> batch);
  absl::Status Answer(int64_t length, absl::Span<Waiting> batch);

  const std::shared_ptr<const Predictor> predictor_;
  const RequestBatcherOptions options_;
  const RequestFormat format_;
  std::vector<OutputRows> output_rows_;
  DType length_dtype_ = DType::kFloat32;
  std::vector<Bucket> buckets_;  // by rising length; one without lengths

  mutable std::mutex mutex_;  // of what follows, and of what waits in the buckets
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
  return format_.Check();
}

// What may be wrong with every request is wrong with the options.
absl::Status RequestBatcher::Impl::CheckDTypes(int64_t length) {
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<DataDesc> expected,
      predictor_->PrepareInputs(length, format_.BatchShapes(options_.max_batch_size, length)));
  for (const DataDesc& desc : expected) {
    if (desc.name == options_.length_name) length_dtype_ = desc.dtype;
    for (const RequestInput& input : options_.inputs) {
      if (input.name != desc.name || input.dtype == desc.dtype) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("RequestBatcher: input '", input.name, "' is ", DTypeName(input.dtype),
                       ", expected ", DTypeName(desc.dtype), " as the predictor has it"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputShapes> RequestBatcher::Impl::PrepareFor(int64_t key, int64_t batch_size,
                                                              int64_t length) const {
  COOPER_ASSIGN_OR_RETURN(const std::vector<DataDesc> outputs,
                          predictor_->Prepare(key, format_.BatchShapes(batch_size, length)));
  OutputShapes known{.batch_size = batch_size, .length = length};
  for (const DataDesc& output : outputs) known.shapes.push_back(output.shape);
  return known;
}

absl::Status RequestBatcher::Impl::Prepare() {
  COOPER_RETURN_IF_ERROR(CheckOptions());
  std::vector<int64_t> lengths = options_.lengths;
  if (lengths.empty()) lengths.push_back(0);
  const int64_t longest = lengths.back();
  const int64_t batch_size = options_.max_batch_size;
  std::vector<OutputShapes> known;
  // From the longest on, so that the arena grows once.
  for (auto it = lengths.rbegin(); it != lengths.rend(); ++it) {
    COOPER_ASSIGN_OR_RETURN(known.emplace_back(), PrepareFor(*it, batch_size, *it));
    COOPER_RETURN_IF_ERROR(CheckDTypes(*it));
  }
  // Smaller sizes, which an extent that is equal by chance does not follow. A network that is
  // unrolled for one length takes no other.
  if (batch_size > 1) {
    COOPER_ASSIGN_OR_RETURN(known.emplace_back(), PrepareFor(longest, batch_size - 1, longest));
  }
  if (lengths.size() == 1 && longest > 1) {
    auto shorter = PrepareFor(longest, batch_size, longest - 1);
    if (shorter.ok()) {
      known.push_back(*std::move(shorter));
    } else if (!absl::IsInvalidArgument(shorter.status())) {
      return shorter.status();
    }
  }
  // Not the one to be forgotten, if the predictor keeps no more than one for each length.
  COOPER_RETURN_IF_ERROR(PrepareFor(longest, batch_size, longest).status());
  COOPER_ASSIGN_OR_RETURN(output_rows_, FindOutputRows(known));
  for (const int64_t length : lengths) buckets_.push_back({.length = length});
  return FindOrderOfPositions(longest);
}

absl::StatusOr<std::vector<Waiting>> RequestBatcher::Impl::MakeUpBatch(int64_t length,
                                                                       uint64_t bound) const {
  RandomGenerator random(/*seed=*/bound);
  const KnownShapes shapes = format_.BatchShapes(/*batch_size=*/1, length);
  std::vector<Waiting> batch;
  for (int64_t row = 0; row < options_.max_batch_size; ++row) {
    Waiting waiting{.length = length};
    for (const RequestInput& input : options_.inputs) {
      const Shape shape = shapes.at(input.name).ToShape();
      std::vector<float> numbers(static_cast<size_t>(shape.num_elements()));
      for (float& number : numbers) number = static_cast<float>(random.NextBelow(bound));
      COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<float>(shape, numbers));
      COOPER_ASSIGN_OR_RETURN(const NDArray sample, array.At(0));
      COOPER_ASSIGN_OR_RETURN(waiting.request[input.name], sample.AsType(input.dtype));
    }
    batch.push_back(std::move(waiting));
  }
  return batch;
}

// (batch_size * length, ...) may have the positions of a sample together or the samples of a step,
// which no shape tells. But samples in other places of a batch have their rows in other places.
absl::Status RequestBatcher::Impl::FindOrderOfPositions(int64_t length) {
  const int64_t rows = options_.max_batch_size;
  if (rows == 1) return absl::OkStatus();
  std::vector<std::vector<SampleRows>> orders(output_rows_.size());
  for (size_t k = 0; k < orders.size(); ++k) {
    if (!output_rows_[k].flattened) continue;
    orders[k] = {{.outer = 1, .inner = length}, {.outer = length, .inner = 1}};
  }
  const auto in_doubt = [](const std::vector<SampleRows>& of) { return of.size() > 1; };
  for (uint64_t bound = 2; bound <= kMaxMadeUp && absl::c_any_of(orders, in_doubt); bound *= 2) {
    COOPER_ASSIGN_OR_RETURN(std::vector<Waiting> batch, MakeUpBatch(length, bound));
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, Compute(length, batch));
    std::rotate(batch.rbegin(), batch.rbegin() + 1, batch.rend());
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> turned, Compute(length, batch));
    for (size_t k = 0; k < orders.size(); ++k) {
      if (!in_doubt(orders[k])) continue;
      COOPER_ASSIGN_OR_RETURN(const NDArray before, OnCpu(outputs[k]));
      COOPER_ASSIGN_OR_RETURN(const NDArray after, OnCpu(turned[k]));
      COOPER_ASSIGN_OR_RETURN(orders[k], AgreeingSampleRows(orders[k], before, after, rows));
    }
  }
  for (size_t k = 0; k < orders.size(); ++k) {
    if (!output_rows_[k].flattened) continue;
    if (orders[k].size() != 1) {
      return absl::UnimplementedError(absl::StrCat(
          "output ", k, " of a batch of ", rows, " samples of length ", length, " has ",
          rows * length, " rows, and it cannot be told whose: samples in another order give ",
          orders[k].empty() ? "other" : "the same", " rows"));
    }
    output_rows_[k].steps_first = orders[k][0].inner == 1;
  }
  return absl::OkStatus();
}

void RequestBatcher::Impl::Start() {
  for (int i = 0; i < options_.num_threads; ++i) {
    threads_.emplace_back([this] { Serve(); });
  }
}

RequestBatcher::Impl::~Impl() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Bucket* RequestBatcher::Impl::BucketOf(int64_t length) {
  return &*absl::c_lower_bound(buckets_, length, [](const Bucket& bucket, int64_t wanted) {
    return bucket.length < wanted;
  });
}

void RequestBatcher::Impl::Submit(ArrayMap request, Callback done) {
  const absl::StatusOr<int64_t> length = format_.CheckRequest(request);
  absl::Status status = length.status();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok() && waiting_ >= options_.max_waiting) {
      status = absl::ResourceExhaustedError(
          absl::StrCat(waiting_, " requests wait already (max_waiting)"));
    }
    if (status.ok()) {
      ++waiting_;
      BucketOf(*length)->waiting.push_back({.request = std::move(request),
                                            .length = *length,
                                            .done = std::move(done),
                                            .deadline = Clock::now() + options_.max_delay});
      wake_.notify_one();
      return;
    }
    ++counts_.refused;
  }
  done(status);
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
    std::vector<Waiting> batch(std::make_move_iterator(bucket->waiting.begin()),
                               std::make_move_iterator(bucket->waiting.begin() + count));
    bucket->waiting.erase(bucket->waiting.begin(), bucket->waiting.begin() + count);
    waiting_ -= static_cast<int64_t>(count);
    counts_.requests += static_cast<int64_t>(count);
    ++counts_.batches;
    // Somebody else has to keep the deadlines of the others: a thread that waited for all of them
    // may have been this one.
    if (waiting_ > 0) wake_.notify_one();
    lock.unlock();
    const absl::Status status = Answer(bucket->length, absl::MakeSpan(batch));
    if (!status.ok()) {
      for (Waiting& waiting : batch) {
        if (waiting.done) waiting.done(status);
      }
    }
    batch.clear();
    lock.lock();
    if (ending_) wake_.notify_all();
  }
}

absl::StatusOr<std::vector<NDArray>> RequestBatcher::Impl::Compute(
    int64_t length, absl::Span<const Waiting> batch) {
  const auto rows = static_cast<int64_t>(batch.size());
  ArrayMap inputs;
  if (!options_.length_name.empty()) {
    std::vector<float> lengths;
    for (const Waiting& waiting : batch) lengths.push_back(static_cast<float>(waiting.length));
    COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<float>({rows}, lengths));
    COOPER_ASSIGN_OR_RETURN(inputs[options_.length_name], array.AsType(length_dtype_));
  }
  const KnownShapes shapes = format_.BatchShapes(rows, length);
  for (const RequestInput& input : options_.inputs) {
    std::vector<NDArray> samples;
    for (const Waiting& waiting : batch) samples.push_back(waiting.request.at(input.name));
    COOPER_ASSIGN_OR_RETURN(
        inputs[input.name],
        StackPadded(samples, shapes.at(input.name).ToShape(), input.dtype, input.pad_value));
  }
  return predictor_->Predict(length, inputs);
}

absl::Status RequestBatcher::Impl::Answer(int64_t length, absl::Span<Waiting> batch) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> outputs, Compute(length, batch));
  const auto rows = static_cast<int64_t>(batch.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    COOPER_ASSIGN_OR_RETURN(outputs[k], SamplesFirst(outputs[k], output_rows_[k], rows, length));
  }
  std::vector<Outputs> answers;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<NDArray> parts;
    for (size_t k = 0; k < outputs.size(); ++k) {
      COOPER_ASSIGN_OR_RETURN(parts.emplace_back(),
                              TakeRow(outputs[k], output_rows_[k], rows, row, batch[row].length));
    }
    answers.emplace_back(std::move(parts));
  }
  for (int64_t row = 0; row < rows; ++row) {
    const Callback done = std::exchange(batch[row].done, nullptr);
    done(std::move(answers[row]));
  }
  return absl::OkStatus();
}

RequestBatcher::Counts RequestBatcher::Impl::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

RequestBatcher::RequestBatcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RequestBatcher::~RequestBatcher() = default;

absl::StatusOr<std::unique_ptr<RequestBatcher>> RequestBatcher::Create(
    std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options) {
  auto impl = std::make_unique<Impl>(std::move(predictor), std::move(options));
  COOPER_RETURN_IF_ERROR(impl->Prepare());
  impl->Start();
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
