#ifndef COOPER_MODULE_CALLBACK_CALLBACK_H_
#define COOPER_MODULE_CALLBACK_CALLBACK_H_

// What training and evaluation loops tell whoever listens. MXNet: mx.callback and BatchEndParam.

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "io/data_batch.h"
#include "module/metric/eval_metric.h"

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

// False ends the loop after this batch.
using BatchEndCallback = std::function<bool(const BatchEndParam&)>;

// After an epoch, before its validation, with the epoch's number from 0. False ends the training
// after the epoch; an error ends it at once.
using EpochEndCallback = std::function<absl::StatusOr<bool>(int epoch, BaseModule& module)>;

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_CALLBACK_H_
