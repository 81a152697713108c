#include "module/fit/fit_checks.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "module/evaluate/batch_descs.h"
#include "module/parameters/finite.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns text such as "2 of 20 elements, the first at 7"; empty if all elements are finite.
std::string DescribeElements(const NDArray& array) {
  const auto found = CountNonFinite(array);
  if (!found.ok() || found->count == 0) return "";
  return absl::StrCat(found->count, " of ", array.size(), " elements, the first at ", found->first);
}

absl::Status WithKey(const DataBatch& batch, const absl::Status& status) {
  if (status.ok() || !batch.bucket_key.has_value()) return status;
  return AddContext(status, "bucket key ", batch.bucket_key->ToString());
}

// Describes a non-finite element of the batch or of the parameters; empty if there is none.
std::string FindInInputs(const BaseModule& module, const DataBatch& batch) {
  const std::pair<const std::vector<NDArray>*, const std::vector<DataDesc>*> kinds[] = {
      {&batch.data, &DataDescs(module, batch)}, {&batch.label, &LabelDescs(module, batch)}};
  for (const auto& [arrays, descs] : kinds) {
    for (size_t i = 0; i < arrays->size(); ++i) {
      const std::string found = DescribeElements((*arrays)[i]);
      if (found.empty()) continue;
      return absl::StrCat("it came with the batch: ",
                          i < descs->size() ? (*descs)[i].name : "array", " has ", found);
    }
  }
  const auto params = module.GetParams();
  if (!params.ok()) return "";
  for (const ArrayMap* arrays : {&params->args, &params->auxs}) {
    for (const auto& [name, array] : *arrays) {
      // The user gave the values of a fixed parameter, where infinities may be intended (a mask).
      const bool is_fixed = arrays == &params->args && !module.GetGrad(name).ok();
      if (is_fixed) continue;
      const std::string found = DescribeElements(array);
      if (!found.empty()) {
        return absl::StrCat("it was in a parameter before: ", name, " has ", found);
      }
    }
  }
  return "";
}

// Returns the node that computes a value which a monitor reports as `name`: "log 'log0'" or "the
// gradient of log 'log0'". If several nodes have that name, returns all of them.
std::string SourceOf(const BaseModule& module, const std::string& name) {
  const auto symbol = module.symbol();
  if (!symbol.ok()) return "";
  std::vector<std::string> forward, backward;
  size_t longest = 0;  // length of the longest node name that starts `name`
  const Symbol internals = symbol->GetInternals();
  for (const NodeEntry& entry : internals.outputs()) {
    const Node& node = *entry.node;
    if (OutputName(entry) == name) forward.push_back(Describe(node));
    if (entry.index != 0 || node.name().size() < longest) continue;
    if (!absl::StartsWith(name, absl::StrCat(node.name(), "_backward"))) continue;
    if (node.name().size() > longest) backward.clear();
    longest = node.name().size();
    backward.push_back(absl::StrCat("the gradient of ", Describe(node)));
  }
  return absl::StrJoin(forward.empty() ? backward : forward, " or ");
}

// Computes the batch again under a monitor, and describes the first value that is not finite.
std::string FindFirstValue(BaseModule& module, const DataBatch& batch) {
  std::string name, elements;
  const auto watch = [&](const std::string& value, const NDArray& array) {
    if (!name.empty()) return;
    elements = DescribeElements(array);
    if (!elements.empty()) name = value;
  };
  const std::function<absl::Status()> restore_monitor = module.MonitorRestorer();
  if (!module.InstallMonitor(watch).ok()) return "";
  absl::Status status = module.Forward(batch, /*is_train=*/true);
  if (status.ok() && name.empty()) status = module.Backward();
  restore_monitor().IgnoreError();
  if (name.empty()) return "nothing of it was seen when the batch was computed once more";
  const std::string source = SourceOf(module, name);
  return absl::StrCat("first made was ", name, source.empty() ? "" : " by ", source, ", with ",
                      elements);
}

}  // namespace

FitChecks::FitChecks(BaseModule& module, const DataIter& train_data, const FitOptions& options)
    : module_(module), options_(options) {
  if (options.check_ids) ids_.emplace(module, train_data);
}

void FitChecks::WarnOfUnknownNames() const {
  const InitOptimizerOptions& optimizer = options_.optimizer;
  if (optimizer.lr_mult.empty() && optimizer.wd_mult.empty()) return;
  const absl::StatusOr<ModuleParams> params = module_.GetParams();
  if (!params.ok()) return;
  std::vector<std::string> known;
  known.reserve(params->args.size());
  for (const auto& [name, array] : params->args) known.push_back(name);
  for (const auto& [option, multipliers] :
       {std::pair("lr_mult", &optimizer.lr_mult), std::pair("wd_mult", &optimizer.wd_mult)}) {
    for (const auto& [name, factor] : *multipliers) {
      if (params->args.contains(name)) continue;
      LOG(WARNING) << "Fit: " << option << " has '" << name << "', which is no parameter so far"
                   << DidYouMean(name, known);
    }
  }
}

void FitChecks::WarnOfUnusedSamples(const DataIter& train_data) const {
  const UnusedSamples unused = train_data.unused_samples();
  if (unused.never > 0) {
    LOG(WARNING) << "Fit: no batch of any epoch holds " << unused.never << " of " << unused.all
                 << " samples: " << unused.why;
  }
  if (options_.eval_data == nullptr) return;
  const UnusedSamples of_eval = options_.eval_data->unused_samples();
  if (of_eval.this_epoch > 0 && !of_eval.by_request) {
    LOG(WARNING) << "Fit: no batch of eval_data holds " << of_eval.this_epoch << " of "
                 << of_eval.all << " samples: " << of_eval.why;
  }
}

void FitChecks::WarnOfRolledOver(const DataIter& train_data) {
  const UnusedSamples unused = train_data.unused_samples();
  if (unused.rolled_over == 0) return;
  LOG(WARNING) << "Fit: no batch of the last epoch held " << unused.rolled_over << " of "
               << unused.all << " samples, which rolled over: " << unused.why;
}

void FitChecks::WarnOfDefaultMetric() const {
  const absl::StatusOr<Symbol> symbol = module_.symbol();
  if (!symbol.ok()) return;
  for (const NodeEntry& entry : symbol->outputs()) {
    const Node& node = *entry.node;
    if (node.is_variable() || !absl::EndsWith(node.op()->name(), "RegressionOutput")) continue;
    LOG(WARNING)
        << "Fit: no eval_metric is given, so that accuracy is measured, which means little "
        << "for the output of " << Describe(node)
        << "; give FitOptions::eval_metric, such as CreateMetric(\"mse\")";
    return;
  }
}

absl::Status FitChecks::BeforeBatch() {
  return options_.check_finite ? transaction_.Begin(module_.learners()) : absl::OkStatus();
}

absl::Status FitChecks::AfterBatch(const DataBatch& batch, const absl::Status& computed) {
  absl::Status found;  // the result of CheckFinite
  if (!computed.ok()) {
    // TrainStep may fail with kOutOfRange for another reason.
    if (options_.check_finite && absl::IsOutOfRange(computed)) found = module_.CheckFinite();
    if (!absl::IsOutOfRange(found)) return computed;
  }
  if (ids_.has_value()) {
    const absl::Status known = ids_->Check(batch);
    if (!known.ok() && options_.check_finite) COOPER_RETURN_IF_ERROR(transaction_.Rollback());
    COOPER_RETURN_IF_ERROR(WithKey(batch, known));
  }
  if (found.ok()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(transaction_.Rollback());
  std::string origin = FindInInputs(module_, batch);
  if (origin.empty()) origin = FindFirstValue(module_, batch);
  COOPER_RETURN_IF_ERROR(transaction_.Rollback());
  return WithKey(batch,
                 absl::OutOfRangeError(absl::StrCat(found.message(), "; ", origin,
                                                    "; the module is as it was before the batch")));
}

absl::Status FitChecks::AfterEpoch() {
  ids_.reset();
  return options_.check_finite ? module_.CheckParamsFinite() : absl::OkStatus();
}

}  // namespace cooper
