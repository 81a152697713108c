// Attaches a Checkpointer to the callbacks of Fit.

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/checkpoint/checkpointer.h"
#include "module/metric/watched_value.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// State that the callbacks of one Fit share.
struct Attached {
  StatePosition at = {-1, 0};            // epoch and batches at the last capture_point
  std::optional<TrainingState> pending;  // the end of an epoch, whose validation has no score yet
};

}  // namespace

void Checkpointer::Attach(const TrainingRun& run, const AttachOptions& options, FitOptions* fit) {
  auto attached = std::make_shared<Attached>();
  fit->capture_point = [attached, save = Every(options.every, run)](int epoch, int64_t batches) {
    attached->at = {epoch, batches};
    return save(epoch, batches);
  };
  fit->stop_point = AtStop(run);
  fit->end_point = [this] { return Wait(); };

  // The state is captured before the validation: a run resumed from it validates again, and other
  // callbacks then see the same as in the uninterrupted run.
  const bool validates = fit->eval_data != nullptr;
  const auto at_epoch_end = [this, attached, run, validates](int epoch,
                                                             BaseModule&) -> absl::StatusOr<bool> {
    // An epoch without batches left to train has no capture_point.
    StatePosition at = std::max(attached->at, resumed_at_);
    if (at.first != epoch) at = {epoch, 0};
    COOPER_ASSIGN_OR_RETURN(TrainingState state, Capture(run, at));
    if (validates) {
      attached->pending = std::move(state);
    } else {
      SaveOrLog(std::move(state));
    }
    return true;
  };
  fit->epoch_end_callbacks.insert(fit->epoch_end_callbacks.begin(), at_epoch_end);
  if (!validates) return;
  const auto at_eval_end =
      [this, attached, name = options.score](const BatchEndParam& param) -> absl::StatusOr<bool> {
    COOPER_ASSIGN_OR_RETURN(const NamedValue score,
                            AddContext(FindValue(*param.eval_metric, name), "Checkpointer"));
    if (!options_.larger_is_better.has_value()) larger_is_better_ = LargerIsBetter(score.first);
    if (!attached->pending.has_value()) return true;
    SaveOrLog(*std::exchange(attached->pending, std::nullopt), score.second);
    return true;
  };
  fit->eval_end_callbacks.insert(fit->eval_end_callbacks.begin(), at_eval_end);
}

}  // namespace cooper
