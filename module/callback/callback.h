#ifndef COOPER_MODULE_CALLBACK_CALLBACK_H_
#define COOPER_MODULE_CALLBACK_CALLBACK_H_

// The callbacks of training and evaluation loops, and their arguments. MXNet: mx.callback and
// BatchEndParam.

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"
#include "module/metric/eval_metric.h"
#include "ndarray/array/array_map.h"

namespace cooper {

class BaseModule;

// The argument of a callback after a batch or at the end of an evaluation.
struct BatchEndParam {
  int epoch = 0;
  int64_t nbatch = 0;  // index of the batch, from 0; at the end of an evaluation their number
  EvalMetric* eval_metric = nullptr;  // not null
  BaseModule* module = nullptr;
  const DataBatch* batch = nullptr;  // null at the end of an evaluation
};

// Called on the thread of the loop. Returns false to end the loop after this batch with an OK
// status; an error ends the loop with that error.
using BatchEndCallback = std::function<absl::StatusOr<bool>(const BatchEndParam&)>;

// Called after an epoch, before its validation, with the epoch's number from 0. Returns false to
// end the training after the epoch; an error ends it at once.
using EpochEndCallback = std::function<absl::StatusOr<bool>(int epoch, BaseModule& module)>;

// A callback with state, such as EarlyStopping. A TrainingState includes the state
// (TrainingRun::callbacks), so that a resumed run decides in the same way as the uninterrupted one.
class StatefulCallback {
 public:
  virtual ~StatefulCallback() = default;

  // Returns the state as arrays on the CPU by name. Nothing may write to them later.
  virtual absl::StatusOr<ArrayMap> SaveState() const = 0;
  // Replaces the state by one that SaveState returned. kInvalidArgument, changing nothing, if an
  // array is missing, unknown or of another shape or dtype.
  virtual absl::Status LoadState(const ArrayMap& state) = 0;
};

// Observes a module during Fit, which calls it around each batch: Monitor
// (module/evaluate/monitor.h) is one.
class BaseMonitor {
 public:
  virtual ~BaseMonitor() = default;

  // Starts to watch `module`, which must be bound and is not owned.
  virtual absl::Status Install(BaseModule& module) = 0;
  // Tic is called before a batch is computed; TocPrint after the batch was computed, the parameters
  // were updated and the next batch was prepared.
  virtual absl::Status Tic() = 0;
  virtual absl::Status TocPrint() = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_CALLBACK_H_
