#ifndef COOPER_MODULE_EVALUATE_MONITOR_H_
#define COOPER_MODULE_EVALUATE_MONITOR_H_

// Reports statistics of computed arrays every few batches: of each operator's outputs, and of
// parameters, their gradients and auxiliary states. Use it to find out where values vanish, explode
// or become NaN. MXNet: python/mxnet/monitor.py.
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

// Returns one or more numbers that describe `array`, which may have any dtype and context.
using MonitorStatFunction =
    std::function<absl::StatusOr<std::vector<double>>(const NDArray& array)>;

// Options of Monitor::Create, with MXNet's names. Batches that are not watched cost nothing.
struct MonitorOptions {
  int64_t interval = 1;  // watches the first batch and then every interval-th one; at least 1
  // Null: the root mean square, |x| / sqrt(size), computed in double; NaN for an empty array.
  MonitorStatFunction stat_func;
  // Only names that this ECMAScript expression matches at their start are watched (name_pattern.h).
  std::string pattern = ".*";
  bool sort = false;  // sorts by name; else in the order of computation
  // Whether to watch inputs of operators too: "fc1_data", and "fc1_backward_input_data" of
  // gradients.
  bool monitor_all = false;
  LogLine log = LogInfo;  // receives the lines of TocPrint
};

// The numbers that stat_func returned for one array in one batch.
struct MonitorStat {
  int64_t batch = 0;  // number of the call of Tic, from 1
  std::string name;
  std::vector<double> values;

  // Returns MXNet's line, "Batch:       1 fc1_output                     0.25"; tabs separate
  // values.
  std::string ToString() const;
};

// Watches one module at a time. Not thread-safe.
class Monitor : public BaseMonitor {
 public:
  // kInvalidArgument for a pattern that does not compile, with its text, and for an interval below
  // 1.
  static absl::StatusOr<std::unique_ptr<Monitor>> Create(MonitorOptions options);

  // Watches `module` instead of an earlier one, in all of its buckets, including those that are
  // bound later. `module` must outlive the calls of Tic and Toc. A batch that is watched replaces a
  // callback that was given to InstallMonitor. kFailedPrecondition before Bind.
  absl::Status Install(BaseModule& module) override;

  // Begins a batch. The module has a callback only in every interval-th batch, so the others have
  // no extra cost.
  absl::Status Tic() override;

  // Ends the batch. Returns an empty list unless Tic began to watch. Otherwise returns the
  // statistics of operators' outputs since Tic, then the current ones of the parameters (once each,
  // whatever the number of buckets and devices), of their gradients in the current bucket
  // ("fc1_weight_grad") and of the auxiliary states ("bn_moving_mean"). Fails with the first error
  // of stat_func.
  absl::StatusOr<std::vector<MonitorStat>> Toc();

  // Calls Toc, and logs a line for each statistic.
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
