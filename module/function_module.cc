#include "module/function_module.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/program/kernel.h"
#include "module/devices/named_arrays.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

std::string NamesOf(const std::vector<DataDesc>& descs) {
  return absl::StrJoin(
      descs, ", ", [](std::string* out, const DataDesc& desc) { absl::StrAppend(out, desc.name); });
}

absl::Status CheckNames(const std::vector<DataDesc>& descs, const std::vector<std::string>& names,
                        const char* kind) {
  const bool same =
      std::equal(descs.begin(), descs.end(), names.begin(), names.end(),
                 [](const DataDesc& desc, const std::string& name) { return desc.name == name; });
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Bind: ", kind, "_shapes has (", NamesOf(descs),
                                                 "), expected ", kind, "_names (", JoinNames(names),
                                                 ") in this order"));
}

// Returns the arrays in the order of the names. A batch with descriptions is matched by name,
// others by position.
std::vector<NDArray> InOrder(const std::vector<std::string>& names,
                             const std::vector<DataDesc>& provided,
                             const std::vector<NDArray>& arrays) {
  if (arrays.size() != names.size() || provided.size() != arrays.size()) return arrays;
  std::vector<NDArray> ordered = arrays;
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t k = 0; k < provided.size(); ++k) {
      if (provided[k].name == names[i]) ordered[i] = arrays[k];
    }
  }
  return ordered;
}

// Checks that a function's results have the announced number and shapes.
absl::Status CheckArrays(const std::vector<NDArray>& arrays, const std::vector<Shape>& shapes,
                         const std::vector<std::string>& names, const char* function,
                         const char* kind) {
  if (arrays.size() != shapes.size()) {
    return absl::InvalidArgumentError(absl::StrCat("function ", function, " gave ", arrays.size(),
                                                   " arrays, expected ", shapes.size(), " (",
                                                   JoinNames(names), ")"));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].is_null() && arrays[i].shape() == shapes[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("function ", function, " gave ", kind, " '", names[i], "' ",
                     arrays[i].is_null() ? "no array" : arrays[i].ToString(), ", expected ",
                     shapes[i].ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FunctionModule>> FunctionModule::Create(
    FunctionModuleOptions options) {
  if (!options.forward) return absl::InvalidArgumentError("FunctionModule: forward is required");
  if (!options.output_shapes && options.output_names.size() != options.data_names.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "FunctionModule: without output_shapes there is an output for each data, but data_names "
        "has (",
        JoinNames(options.data_names), ") and output_names (", JoinNames(options.output_names),
        ")"));
  }
  return std::unique_ptr<FunctionModule>(new FunctionModule(std::move(options)));
}

absl::StatusOr<Symbol> FunctionModule::symbol() const {
  return absl::UnimplementedError("a FunctionModule has no symbol");
}

absl::StatusOr<std::vector<Shape>> FunctionModule::InferOutputShapes(
    const std::vector<DataDesc>& data) const {
  std::vector<Shape> shapes;
  if (options_.output_shapes) {
    COOPER_ASSIGN_OR_RETURN(shapes, options_.output_shapes(data));
  } else {
    for (const DataDesc& desc : data) shapes.push_back(desc.shape);
  }
  if (shapes.size() == options_.output_names.size()) return shapes;
  return absl::InvalidArgumentError(absl::StrCat("function output_shapes gave ", shapes.size(),
                                                 " shapes for the outputs (",
                                                 JoinNames(options_.output_names), ")"));
}

absl::Status FunctionModule::Bind(const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckNames(options.data_shapes, options_.data_names, "data"));
  if (!options.label_shapes.empty()) {
    COOPER_RETURN_IF_ERROR(CheckNames(options.label_shapes, options_.label_names, "label"));
  }
  if (options.inputs_need_grad && !options.for_training) {
    return absl::InvalidArgumentError("Bind: inputs_need_grad without for_training");
  }
  for (const std::string& name : options_.data_names) {
    const auto it = options.grad_reqs.find(name);
    const WriteReq req = it == options.grad_reqs.end() ? options.grad_req : it->second;
    if (options.inputs_need_grad && req == WriteReq::kAdd) {
      return absl::UnimplementedError(
          absl::StrCat("Bind: a FunctionModule overwrites the gradient of '", name,
                       "', it cannot add to it as grad_req asks"));
    }
  }
  COOPER_ASSIGN_OR_RETURN(output_shapes_, InferOutputShapes(options.data_shapes));
  bind_options_ = KeptOptions(options);
  data_shapes_ = bind_options_.data_shapes;
  ran_ = false;
  ran_training_ = false;
  binded_ = true;
  return absl::OkStatus();
}

absl::Status FunctionModule::InitParams(const InitParamsOptions&) {
  return RequireBound("InitParams");
}

absl::StatusOr<ModuleParams> FunctionModule::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetParams"));
  return ModuleParams();
}

absl::Status FunctionModule::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                       const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  if (!options.allow_missing || options.allow_extra) return absl::OkStatus();
  for (const ArrayMap* given : {&arg_params, &aux_params}) {
    if (given->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("SetParams: the module has no parameter '", given->begin()->first, "'"));
  }
  return absl::OkStatus();
}

absl::Status FunctionModule::InitOptimizer(const InitOptimizerOptions&) {
  return RequireBound("InitOptimizer");
}

absl::StatusOr<DataBatch> FunctionModule::Arrange(const DataBatch& batch) const {
  if (batch.data.size() != data_shapes_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has ", batch.data.size(),
                                                   " data arrays, expected ",
                                                   DescsToString(data_shapes_)));
  }
  DataBatch arranged = batch;
  arranged.data = InOrder(options_.data_names, batch.provide_data, batch.data);
  arranged.label = InOrder(options_.label_names, batch.provide_label, batch.label);
  arranged.provide_data = data_shapes_;
  for (size_t i = 0; i < data_shapes_.size(); ++i) {
    arranged.provide_data[i].shape = arranged.data[i].shape();
    arranged.provide_data[i].dtype = arranged.data[i].dtype();
  }
  return arranged;
}

absl::Status FunctionModule::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  COOPER_RETURN_IF_ERROR(RequireBound("Forward"));
  ran_ = false;
  ran_training_ = false;
  input_grads_.clear();
  COOPER_ASSIGN_OR_RETURN(batch_, Arrange(batch));
  COOPER_ASSIGN_OR_RETURN(output_shapes_, InferOutputShapes(batch_.provide_data));
  data_shapes_ = batch_.provide_data;
  if (monitor_ && monitor_all_) {
    for (size_t i = 0; i < data_shapes_.size(); ++i) {
      monitor_(data_shapes_[i].name, batch_.data[i]);
    }
  }
  const bool training = is_train.value_or(for_training());
  COOPER_ASSIGN_OR_RETURN(outputs_, options_.forward(batch_, training));
  COOPER_RETURN_IF_ERROR(
      CheckArrays(outputs_, output_shapes_, options_.output_names, "forward", "output"));
  ran_ = true;
  ran_training_ = training;
  if (monitor_) {
    for (size_t i = 0; i < outputs_.size(); ++i) monitor_(options_.output_names[i], outputs_[i]);
  }
  return absl::OkStatus();
}

absl::Status FunctionModule::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireBound("Backward"));
  if (!for_training()) {
    return absl::FailedPreconditionError("Backward: call Bind with for_training first");
  }
  if (!ran_training_) {
    return absl::FailedPreconditionError("Backward: call Forward(is_train=true) first");
  }
  if (!options_.backward) {
    if (!inputs_need_grad()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "Backward: the module has no function backward to give gradients of its data");
  }
  if (!head_gradients.empty() && head_gradients.size() != outputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Backward: ", head_gradients.size(), " head gradients for ", outputs_.size(), " outputs"));
  }
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> grads,
                          options_.backward(batch_, outputs_, head_gradients));
  std::vector<Shape> shapes;
  for (const DataDesc& desc : data_shapes_) shapes.push_back(desc.shape);
  COOPER_RETURN_IF_ERROR(
      CheckArrays(grads, shapes, options_.data_names, "backward", "the gradient of"));
  input_grads_ = std::move(grads);
  return absl::OkStatus();
}

absl::Status FunctionModule::Update() { return RequireBound("Update"); }

absl::StatusOr<absl::Span<const NDArray>> FunctionModule::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetOutputs"));
  if (!ran_) return absl::FailedPreconditionError("GetOutputs: call Forward first");
  return absl::Span<const NDArray>(outputs_);
}

absl::StatusOr<std::vector<NDArray>> FunctionModule::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetInputGrads"));
  if (!inputs_need_grad()) {
    return absl::FailedPreconditionError("GetInputGrads: call Bind with inputs_need_grad first");
  }
  if (input_grads_.empty()) {
    return absl::FailedPreconditionError("GetInputGrads: call Backward first");
  }
  return input_grads_;
}

absl::StatusOr<NDArray> FunctionModule::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  return absl::NotFoundError(absl::StrCat("GetGrad: '", name, "' has no gradient"));
}

absl::Status FunctionModule::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, GetOutputs());
  if (options_.label_names.empty()) return absl::OkStatus();
  return metric.UpdateDict(WithNames(options_.label_names, labels),
                           WithNames(options_.output_names, outputs));
}

absl::StatusOr<std::vector<NDArray>> FunctionModule::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetStates"));
  return std::vector<NDArray>();
}

absl::Status FunctionModule::SetStates(absl::Span<const NDArray> states) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetStates"));
  if (states.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("SetStates: ", states.size(), " arrays for a module without states"));
}

absl::Status FunctionModule::SetStates(double) { return RequireBound("SetStates"); }

absl::Status FunctionModule::Prepare(const DataBatch&) { return RequireBound("Prepare"); }

absl::Status FunctionModule::InstallMonitor(Executor::MonitorCallback callback, bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  monitor_ = std::move(callback);
  monitor_all_ = monitor_all;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FunctionModule>> FunctionLossModule(
    FunctionLossModuleOptions options) {
  if (!options.grad_func) {
    return absl::InvalidArgumentError("FunctionLossModule: grad_func is required");
  }
  using Arrays = absl::StatusOr<std::vector<NDArray>>;
  return FunctionModule::Create(
      {.data_names = {options.data_name},
       .label_names = {options.label_name},
       .output_names = {absl::StrCat(options.name, "_output")},
       .forward = [](const DataBatch& batch, bool) -> Arrays { return batch.data; },
       .backward = [grad_func = options.grad_func](
                       const DataBatch& batch, absl::Span<const NDArray> outputs,
                       absl::Span<const NDArray> head_gradients) -> Arrays {
         if (!head_gradients.empty()) {
           return absl::InvalidArgumentError("Backward: a loss takes no head gradients");
         }
         if (batch.label.size() != 1) {
           return absl::FailedPreconditionError(
               absl::StrCat("Backward: the batch of the last Forward has ", batch.label.size(),
                            " labels, a loss needs one"));
         }
         COOPER_ASSIGN_OR_RETURN(NDArray grad, grad_func(outputs[0], batch.label[0]));
         return std::vector<NDArray>{std::move(grad)};
       }});
}

}  // namespace cooper
