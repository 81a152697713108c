#ifndef COOPER_MODULE_CALLBACK_CALLBACK_H_
#define COOPER_MODULE_CALLBACK_CALLBACK_H_

// What training and evaluation loops tell whoever listens. MXNet: mx.callback and BatchEndParam.

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"
#include "module/metric/eval_metric.h"
#include "ndarray/array/array_map.h"

namespace cooper {

class BaseModule;

// After a batch, or at the end of an evaluation.
struct BatchEndParam {
  int epoch = 0;
  int64_t nbatch = 0;                 // the batch, from 0; at the end of an evaluation their number
  EvalMetric* eval_metric = nullptr;  // not null
  BaseModule* module = nullptr;
  const DataBatch* batch = nullptr;  // null at the end of an evaluation
};

// False ends the loop after this batch, in good order; an error ends it with that error.
using BatchEndCallback = std::function<absl::StatusOr<bool>(const BatchEndParam&)>;

// After an epoch, before its validation, with the epoch's number from 0. False ends the training
// after the epoch; an error ends it at once.
using EpochEndCallback = std::function<absl::StatusOr<bool>(int epoch, BaseModule& module)>;

// A callback that remembers something from call to call, such as EarlyStopping. A TrainingState
// keeps what it remembers (TrainingRun::callbacks), so that a run that goes on after a kill decides
// as the unbroken run does.
class StatefulCallback {
 public:
  virtual ~StatefulCallback() = default;

  // Returns what is remembered, as arrays on the CPU by name. Nothing may write to them later.
  virtual absl::StatusOr<ArrayMap> SaveState() const = 0;
  // Takes what SaveState returned, and forgets everything else. kInvalidArgument, changing nothing,
  // if an array is missing, unknown or of another shape or dtype.
  virtual absl::Status LoadState(const ArrayMap& state) = 0;
};

// What Fit calls around each batch for whoever looks into the module: Monitor
// (module/evaluate/monitor.h) is one.
class BaseMonitor {
 public:
  virtual ~BaseMonitor() = default;

  // Watches `module`, which is bound, from now on. The module is not owned.
  virtual absl::Status Install(BaseModule& module) = 0;
  // Before a batch is computed, and after it was, the parameters were updated and the next batch
  // was prepared.
  virtual absl::Status Tic() = 0;
  virtual absl::Status TocPrint() = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_CALLBACK_H_
