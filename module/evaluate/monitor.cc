#include "module/evaluate/monitor.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

template <typename T>
double RootMeanSquare(absl::Span<const T> values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum) / std::sqrt(static_cast<double>(values.size()));
}

absl::StatusOr<std::vector<double>> DefaultStat(const NDArray& array) {
  if (array.dtype() == DType::kFloat32 && array.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> values, array.Data<float>());
    return std::vector<double>{RootMeanSquare(values)};
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, array.ToVector<double>());
  return std::vector<double>{RootMeanSquare(absl::MakeConstSpan(values))};
}

}  // namespace

struct Monitor::Record {
  std::mutex mutex;  // executors of several devices may report at once
  std::vector<MonitorStat> stats;
  absl::Status status;
};

std::string MonitorStat::ToString() const {
  return absl::StrFormat("Batch: %7d %-30s %s", batch, name, absl::StrJoin(values, "\t"));
}

Monitor::Monitor(MonitorOptions options, NamePattern pattern)
    : options_(std::move(options)), pattern_(std::move(pattern)) {}

absl::StatusOr<std::unique_ptr<Monitor>> Monitor::Create(MonitorOptions options) {
  if (options.interval < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Monitor: interval is ", options.interval, ", expected at least 1"));
  }
  if (!options.stat_func) options.stat_func = DefaultStat;
  options.log = OrNoLog(std::move(options.log));
  absl::StatusOr<NamePattern> pattern = NamePattern::Create(options.pattern);
  if (!pattern.ok()) return AddContext(pattern.status(), "Monitor");
  return std::unique_ptr<Monitor>(new Monitor(std::move(options), *std::move(pattern)));
}

absl::Status Monitor::Install(BaseModule& module) {
  if (!module.binded()) {
    return absl::FailedPreconditionError("Monitor: call Bind of the module before Install");
  }
  record_.reset();
  module_ = &module;
  return absl::OkStatus();
}

absl::Status Monitor::Tic() {
  if (module_ == nullptr) return absl::FailedPreconditionError("Monitor: call Install before Tic");
  const bool left_open = record_ != nullptr;
  const bool watch = batch_++ % options_.interval == 0;
  record_ = watch ? std::make_shared<Record>() : nullptr;
  if (!watch) return left_open ? module_->InstallMonitor({}) : absl::OkStatus();
  return module_->InstallMonitor(
      [this, weak = std::weak_ptr<Record>(record_)](const std::string& name, const NDArray& array) {
        if (const auto record = weak.lock()) Add(name, array, *record);
      },
      options_.monitor_all);
}

void Monitor::Add(const std::string& name, const NDArray& array, Record& record) const {
  MonitorStat stat = {.batch = batch_, .name = name};
  if (!pattern_.Matches(stat.name)) return;
  const std::lock_guard<std::mutex> lock(record.mutex);
  if (!record.status.ok()) return;
  absl::StatusOr<std::vector<double>> values = options_.stat_func(array);
  if (!values.ok()) {
    record.status = AddContext(values.status(), "Monitor: '", name, "', ", array.ToString());
    return;
  }
  stat.values = *std::move(values);
  record.stats.push_back(std::move(stat));
}

absl::Status Monitor::AddParams(Record& record) const {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module_->GetParams());
  for (const auto& [name, array] : params.args) Add(name, array, record);
  for (const auto& [name, array] : params.args) {
    absl::StatusOr<NDArray> grad = module_->GetGrad(name);
    if (absl::IsNotFound(grad.status())) continue;  // a fixed parameter, or one of another bucket
    if (!grad.ok()) return grad.status();
    Add(absl::StrCat(name, "_grad"), *grad, record);
  }
  for (const auto& [name, array] : params.auxs) Add(name, array, record);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MonitorStat>> Monitor::Toc() {
  const std::shared_ptr<Record> record = std::exchange(record_, nullptr);
  if (record == nullptr) return std::vector<MonitorStat>();
  COOPER_RETURN_IF_ERROR(module_->InstallMonitor({}));
  COOPER_RETURN_IF_ERROR(AddParams(*record));
  COOPER_RETURN_IF_ERROR(record->status);
  if (options_.sort) {
    std::stable_sort(record->stats.begin(), record->stats.end(),
                     [](const MonitorStat& a, const MonitorStat& b) { return a.name < b.name; });
  }
  return std::move(record->stats);
}

absl::Status Monitor::TocPrint() {
  COOPER_ASSIGN_OR_RETURN(const std::vector<MonitorStat> stats, Toc());
  for (const MonitorStat& stat : stats) options_.log(stat.ToString());
  return absl::OkStatus();
}

}  // namespace cooper
