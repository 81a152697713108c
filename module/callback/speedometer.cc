#include "module/callback/speedometer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"

namespace cooper {
namespace {

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the rows of a batch: from its ids or lengths, else from the layout of its first input.
int64_t RowsOf(const DataBatch& batch) {
  if (!batch.index.empty()) return static_cast<int64_t>(batch.index.size());
  if (!batch.lengths.empty()) return static_cast<int64_t>(batch.lengths.size());
  if (batch.data.empty()) return 0;
  const Shape& shape = batch.data[0].shape();
  const int axis = batch.provide_data.empty() ? 0 : BatchAxis(batch.provide_data[0].layout);
  return axis >= 0 && axis < shape.rank() ? shape[axis] : 0;
}

// Returns the time steps of all rows, padding included; 0 if no axis of the first input is time.
int64_t PaddedTokensOf(const DataBatch& batch) {
  const Shape& shape = batch.data[0].shape();
  const std::string layout = batch.provide_data.empty() ? "" : batch.provide_data[0].layout;
  if (static_cast<int>(layout.size()) != shape.rank()) {
    // The layout does not describe this array: assume that batch and time are its first axes, in
    // either order.
    return shape.Product(0, std::min(shape.rank(), 2));
  }
  const size_t steps = layout.find('T');
  return steps == std::string::npos ? 0 : RowsOf(batch) * shape[static_cast<int>(steps)];
}

class SpeedometerState {
 public:
  explicit SpeedometerState(SpeedometerOptions options) : options_(std::move(options)) {
    if (!options_.now) options_.now = SteadySeconds;
    options_.log = OrNoLog(std::move(options_.log));
    options_.frequent = std::max<int64_t>(options_.frequent, 1);
  }

  void OnBatch(const BatchEndParam& param) {
    if (!started_ || param.nbatch < last_batch_) {
      Start();
    } else {
      if (param.batch != nullptr) Count(*param.batch);
      if (param.nbatch % options_.frequent == 0) Report(param);
    }
    last_batch_ = param.nbatch;
  }

 private:
  void Start() {
    started_ = true;
    since_ = options_.now();
    samples_ = tokens_ = padded_tokens_ = 0;
  }

  void Count(const DataBatch& batch) {
    samples_ += RowsOf(batch) - batch.pad;
    if (batch.lengths.empty() || batch.data.empty()) return;
    const int64_t padded_tokens = PaddedTokensOf(batch);
    if (padded_tokens == 0) return;
    tokens_ += std::accumulate(batch.lengths.begin(), batch.lengths.end(), int64_t{0});
    padded_tokens_ += padded_tokens;
  }

  void Report(const BatchEndParam& param) {
    // The clock may stand still or be set back.
    const double seconds = std::max(options_.now() - since_, 1e-9);
    const int64_t first = options_.auto_reset ? param.nbatch - options_.frequent : 0;
    std::string line =
        absl::StrFormat("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec", param.epoch, first,
                        param.nbatch, static_cast<double>(samples_) / seconds);
    if (padded_tokens_ > 0) {
      const auto tokens = static_cast<double>(tokens_);
      absl::StrAppendFormat(&line, ", %.2f tokens/sec, %.1f %% padding", tokens / seconds,
                            100 * (1 - tokens / static_cast<double>(padded_tokens_)));
    }
    if (param.eval_metric != nullptr) {
      line += FormatValues(param.eval_metric->GetNameValue());
      if (options_.auto_reset) param.eval_metric->ResetLocal();
    }
    options_.log(line);
    Start();
  }

  SpeedometerOptions options_;
  bool started_ = false;
  int64_t last_batch_ = 0;
  double since_ = 0;
  int64_t samples_ = 0;
  int64_t tokens_ = 0;
  int64_t padded_tokens_ = 0;
};

}  // namespace

BatchEndCallback Speedometer(SpeedometerOptions options) {
  auto state = std::make_shared<SpeedometerState>(std::move(options));
  return [state = std::move(state)](const BatchEndParam& param) {
    state->OnBatch(param);
    return true;
  };
}

}  // namespace cooper
