#include "module/sequential_module.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

template <typename T>
const T& Nothing() {
  static const T nothing;
  return nothing;
}

// "act_output (4, 5), mask_output (4,)".
std::string Listed(const std::vector<std::pair<std::string, Shape>>& outputs) {
  return absl::StrJoin(outputs, ", ", [](std::string* out, const auto& output) {
    absl::StrAppend(out, output.first, " ", output.second.ToString());
  });
}

}  // namespace

absl::Status SequentialModule::Each(absl::FunctionRef<absl::Status(BaseModule&)> call) const {
  for (size_t i = 0; i < links_.size(); ++i) {
    COOPER_RETURN_IF_ERROR(AddContext(call(*links_[i].module), "module ", i));
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::With(size_t i, const absl::Status& status) const {
  if (status.ok() || i == 0) return AddContext(status, "module ", i);
  return AddContext(status, "module ", i, ", which gets ",
                    Listed(links_[i - 1].module->output_shapes()), " of module ", i - 1,
                    " as its data (", JoinNames(links_[i].module->data_names()), ")");
}

absl::Status SequentialModule::Add(std::unique_ptr<BaseModule> module, SequentialMeta meta) {
  if (module == nullptr) return absl::InvalidArgumentError("Add: no module");
  if (binded()) return absl::FailedPreconditionError("Add: the modules are bound already");
  links_.push_back({std::move(module), meta});
  return absl::OkStatus();
}

absl::StatusOr<Symbol> SequentialModule::symbol() const {
  return absl::UnimplementedError("a SequentialModule has no symbol of its own");
}

ModuleDescription SequentialModule::description() const {
  const std::vector<std::string>* label_names = &Nothing<std::vector<std::string>>();
  for (const Link& link : links_) {
    if (link.meta.take_labels) label_names = &link.module->label_names();
  }
  const auto& no_names = Nothing<std::vector<std::string>>();
  const auto& no_descs = Nothing<std::vector<DataDesc>>();
  const auto& no_shapes = Nothing<std::vector<Shape>>();
  if (links_.empty()) return {no_names, no_names, no_names, no_descs, no_descs, no_shapes};
  const ModuleDescription first = links_.front().module->description();
  const ModuleDescription last = links_.back().module->description();
  return {.data_names = first.data_names,
          .label_names = *label_names,
          .output_names = last.output_names,
          .data_shapes = binded_ ? first.data_shapes : no_descs,
          .label_shapes = label_shapes_,
          .output_shapes = binded_ ? last.output_shapes : no_shapes};
}

std::vector<const TrainableModule*> SequentialModule::parts() const {
  std::vector<const TrainableModule*> parts;
  for (const Link& link : links_) {
    const std::vector<const TrainableModule*> more = link.module->parts();
    parts.insert(parts.end(), more.begin(), more.end());
  }
  return parts;
}

std::vector<BatchLayout> SequentialModule::output_layouts() const {
  if (!binded()) return {};
  std::vector<BatchLayout> layouts = links_.front().module->output_layouts();
  for (size_t i = 1; i < links_.size(); ++i) {
    // A module takes each index of the incoming axis for a sample.
    const bool alike = !layouts.empty() &&
                       std::all_of(layouts.begin(), layouts.end(), [&](const BatchLayout& layout) {
                         return layout.has_samples() && layout.outer == layouts[0].outer &&
                                layout.inner == layouts[0].inner;
                       });
    if (!alike) return {};
    const BatchLayout from = layouts[0];
    layouts = links_[i].module->output_layouts();
    for (BatchLayout& layout : layouts) {
      layout.outer *= from.outer;
      layout.inner *= from.inner;
    }
  }
  return layouts;
}

absl::StatusOr<std::vector<DataDesc>> SequentialModule::Wire(size_t i,
                                                             const Outputs& outputs) const {
  const std::vector<std::string>& names = links_[i].module->data_names();
  const bool by_position = links_[i].meta.auto_wiring;
  if (by_position && outputs.size() != names.size()) {
    return absl::InvalidArgumentError(absl::StrCat("module ", i, " expects data (",
                                                   JoinNames(names), "), module ", i - 1,
                                                   " has the outputs ", Listed(outputs)));
  }
  const std::vector<BatchLayout> layouts = links_[i - 1].module->output_layouts();
  std::vector<DataDesc> descs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto& [name, shape] = outputs[k];
    if (!by_position && std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output '", name, "' ", shape.ToString(), " of module ", i - 1, " is no data of module ",
          i, " (", JoinNames(names), "); set auto_wiring to take it by position"));
    }
    for (size_t other = 0; other < k && !by_position; ++other) {
      if (outputs[other].first != name) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "two outputs of module ", i - 1, " are called '", name, "', numbers ", other, " and ", k,
          "; give one of their nodes another name, or set auto_wiring to take them by position"));
    }
    DataDesc& desc = descs.emplace_back();
    desc.name = by_position ? names[k] : name;
    desc.shape = shape;
    if (k < layouts.size() && layouts[k].has_samples() && layouts[k].axis > 0) {
      desc.layout = std::string(static_cast<size_t>(shape.rank()), 'C');
      desc.layout[0] = 'T';
      desc.layout[static_cast<size_t>(layouts[k].axis)] = 'N';
    }
  }
  return descs;
}

absl::Status SequentialModule::Bind(const ModuleBindOptions& options) {
  if (binded() && !options.force_rebind) return CheckSameBinding(bind_options_, options);
  if (links_.empty()) return absl::FailedPreconditionError("Bind: call Add first");
  if (options.shared_module != nullptr) {
    return absl::UnimplementedError("Bind: a SequentialModule takes no shared_module");
  }
  if (options.inputs_need_grad && !options.for_training) {
    return absl::InvalidArgumentError("Bind: inputs_need_grad without for_training");
  }
  const bool is_first = !was_bound_;
  binded_ = false;
  ModuleBindOptions own = options;
  own.force_rebind = true;
  bool labels_taken = false;
  for (size_t i = 0; i < links_.size(); ++i) {
    const auto& [module, meta] = links_[i];
    labels_taken = labels_taken || meta.take_labels;
    own.label_shapes = meta.take_labels ? options.label_shapes : std::vector<DataDesc>();
    own.inputs_need_grad = options.inputs_need_grad || (options.for_training && i > 0);
    own.grad_reqs = options.grad_reqs;
    if (options.seed.has_value()) {
      own.seed = *options.seed + i;
    } else if (is_first) {
      own.seed = DefaultSeed() + i;  // else all modules would draw the same numbers
    }
    if (i > 0) {
      COOPER_ASSIGN_OR_RETURN(own.data_shapes, Wire(i, links_[i - 1].module->output_shapes()));
      // These gradients are the head gradients of the module before, for one batch: they never
      // accumulate.
      for (const DataDesc& desc : own.data_shapes) own.grad_reqs[desc.name] = WriteReq::kWrite;
    }
    COOPER_RETURN_IF_ERROR(With(i, module->Bind(own)));
  }
  label_shapes_ = labels_taken ? options.label_shapes : std::vector<DataDesc>();
  bind_options_ = KeptOptions(options);
  binded_ = was_bound_ = true;
  return absl::OkStatus();
}

absl::Status SequentialModule::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  return Each([&](BaseModule& module) { return module.InitOptimizer(options); });
}

absl::Status SequentialModule::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  return Run(batch, [&](BaseModule& module, const DataBatch& own) {
    return module.Forward(own, is_train.value_or(for_training()));
  });
}

absl::Status SequentialModule::ForwardToEvaluate(const DataBatch& batch) {
  return Run(batch, [](BaseModule& module, const DataBatch& own) {
    return module.ForwardToEvaluate(own);
  });
}

absl::Status SequentialModule::Run(
    const DataBatch& batch,
    absl::FunctionRef<absl::Status(BaseModule&, const DataBatch&)> forward) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  DataBatch own = batch;
  // A BucketingModule behind other modules binds its buckets with these descriptions, so they must
  // include the labels.
  std::vector<DataDesc> labels = batch.provide_label;
  if (labels.empty() && batch.label.size() == label_shapes_.size()) {
    labels = label_shapes_;
    for (size_t k = 0; k < labels.size(); ++k) labels[k].shape = batch.label[k].shape();
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    const auto& [module, meta] = links_[i];
    own.label = meta.take_labels ? batch.label : std::vector<NDArray>();
    own.provide_label = meta.take_labels ? labels : std::vector<DataDesc>();
    if (i > 0) {
      BaseModule& before = *links_[i - 1].module;
      COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, before.GetOutputs());
      own.data.assign(outputs.begin(), outputs.end());
      COOPER_ASSIGN_OR_RETURN(own.provide_data, Wire(i, before.output_shapes()));
    }
    COOPER_RETURN_IF_ERROR(With(i, forward(*module, own)));
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  std::vector<NDArray> grads(head_gradients.begin(), head_gradients.end());
  for (size_t i = links_.size(); i-- > 0;) {
    COOPER_RETURN_IF_ERROR(AddContext(links_[i].module->Backward(grads), "module ", i));
    if (i == 0) break;
    COOPER_ASSIGN_OR_RETURN(grads, links_[i].module->GetInputGrads());
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  return Each([&](BaseModule& module) { return module.Update(); });
}

absl::StatusOr<absl::Span<const NDArray>> SequentialModule::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetOutputs"));
  return links_.back().module->GetOutputs();
}

absl::StatusOr<std::vector<NDArray>> SequentialModule::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetInputGrads"));
  return links_.front().module->GetInputGrads();
}

absl::Status SequentialModule::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_RETURN_IF_ERROR(RequireParams("UpdateMetric"));
  for (size_t i = 0; i < links_.size(); ++i) {
    if (!links_[i].meta.take_labels) continue;
    COOPER_RETURN_IF_ERROR(
        AddContext(links_[i].module->UpdateMetric(metric, labels), "module ", i));
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::Prepare(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireBound("Prepare"));
  return AddContext(links_.front().module->Prepare(batch), "module 0");
}

absl::Status SequentialModule::InstallMonitor(Executor::MonitorCallback callback,
                                              bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  return Each([&](BaseModule& module) { return module.InstallMonitor(callback, monitor_all); });
}

std::function<absl::Status()> SequentialModule::MonitorRestorer() {
  std::vector<std::function<absl::Status()>> restorers;
  for (const Link& link : links_) restorers.push_back(link.module->MonitorRestorer());
  return [restorers = std::move(restorers)]() -> absl::Status {
    for (const auto& restore : restorers) COOPER_RETURN_IF_ERROR(restore());
    return absl::OkStatus();
  };
}

}  // namespace cooper
