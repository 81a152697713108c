#ifndef COOPER_MODULE_EVALUATE_MONITOR_H_
#define COOPER_MODULE_EVALUATE_MONITOR_H_

// Statistics of what a module computes, every few batches: of each operator's outputs, and of
// parameters, their gradients and auxiliary states. For finding out where values vanish, explode or
// become NaN. MXNet: python/mxnet/monitor.py.
//
//   COOPER_ASSIGN_OR_RETURN(auto monitor, Monitor::Create({.interval = 100, .pattern = "fc"}));
//   COOPER_RETURN_IF_ERROR(model->Fit(*data, {.monitor = monitor.get(), .num_epoch = 25}));

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/initializer/name_pattern.h"
#include "module/interface/base_module.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// One or more numbers that describe an array, of any dtype and context.
using MonitorStatFunction =
    std::function<absl::StatusOr<std::vector<double>>(const NDArray& array)>;

struct MonitorOptions {
  int64_t interval = 1;  // watches the first batch and every so-many-th after it; at least 1
  // Null: the root of the mean square, |x| / sqrt(size), in double. NaN for an empty array.
  MonitorStatFunction stat_func;
  // Selects the names that are watched: an ECMAScript expression (name_pattern.h).
  std::string pattern = ".*";
  bool sort = false;  // by name; else in the order of computation
  // Inputs of operators too: "fc1_data", and of gradients "fc1_backward_input_data".
  bool monitor_all = false;
  LogLine log = LogInfo;  // of TocPrint
};

struct MonitorStat {
  int64_t batch = 0;  // how many times Tic was called, from 1
  std::string name;
  std::vector<double> values;

  // "Batch:       1 fc1_output                     0.25": MXNet's line; values are apart by tabs.
  std::string ToString() const;
};

class Monitor : public BaseMonitor {
 public:
  // kInvalidArgument, with the text of the pattern, for a bad one.
  static absl::StatusOr<std::unique_ptr<Monitor>> Create(MonitorOptions options);

  // Watches `module` instead of the one before: all of its buckets, those too that are bound later.
  // It must outlive the calls of Tic and Toc, not the monitor. Takes the place of a callback given
  // to InstallMonitor. kFailedPrecondition before Bind.
  absl::Status Install(BaseModule& module) override;

  // Begins a batch. Only in every interval-th one the module has a callback at all: the others cost
  // nothing.
  absl::Status Tic() override;

  // Ends the batch. Empty, unless Tic began to watch. Else: what operators gave since Tic, then of
  // the module as it is now the parameters, each once however many buckets or devices use it, their
  // gradients ("fc1_weight_grad") and the auxiliary states ("bn_moving_mean"). Gradients are those
  // of the current bucket. Fails with the first error of stat_func.
  absl::StatusOr<std::vector<MonitorStat>> Toc();

  // Toc, and a line in the log for each.
  absl::Status TocPrint() override;

 private:
  struct Record;

  Monitor(MonitorOptions options, NamePattern pattern);

  void Add(const std::string& name, const NDArray& array, Record& record) const;
  absl::Status AddParams(Record& record) const;

  const MonitorOptions options_;
  const NamePattern pattern_;
  BaseModule* module_ = nullptr;
  int64_t batch_ = 0;
  // The record of the batch that is watched; null between Toc and Tic. The module's callback holds
  // it weakly, so that a callback which remains after a failed batch does nothing.
  std::shared_ptr<Record> record_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_EVALUATE_MONITOR_H_
