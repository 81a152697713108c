#include "module/optimizer/optimizer.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBfloat16; }

absl::Status CheckArray(const std::string& name, absl::string_view what, const NDArray& array,
                        const NDArray& weight) {
  if (!array.is_null() && array.shape() == weight.shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("optimizer: parameter '", name, "' is ",
                                                 weight.ToString(), ", its ", what, " ",
                                                 array.ToString()));
}

// Checks a rate. It must be finite; a multiplier may make the rate of a single parameter negative,
// as in adversarial training.
absl::Status CheckRate(absl::string_view kind, double rate, absl::string_view parameter = "") {
  if (rate >= 0 && std::isfinite(rate)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("optimizer ", kind, ": the learning rate is ", rate,
                   parameter.empty() ? "" : absl::StrCat(" in the update of '", parameter, "'"),
                   ", expected a number that is not negative"));
}

// Numbers of optimizers, and of PrepareAll calls that are never equal to another, in this process.
std::atomic<uint64_t> next_number = 0;
std::atomic<int64_t> next_unlike = 0;

}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options, Kind kind)
    : number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      kind_(std::move(kind)),
      op_(kind_.op),
      master_op_(MasterUpdateName(op_)),
      options_(options),
      learning_rate_(options.learning_rate.value_or(kind_.learning_rate)),
      num_update_(options.begin_num_update) {
  if (options_.lr_scheduler != nullptr && options_.learning_rate.has_value()) {
    options_.lr_scheduler->StartFrom(*options_.learning_rate);
  }
}

bool Optimizer::UsesMaster(const NDArray& weight) const {
  return options_.multi_precision && IsHalf(weight.dtype());
}

absl::StatusOr<ParameterState> Optimizer::CreateState(const NDArray& weight) const {
  ParameterState state;
  state.num_updates = options_.begin_num_update;
  if (UsesMaster(weight)) {
    COOPER_ASSIGN_OR_RETURN(state.master, weight.AsType(DType::kFloat32));
  }
  const NDArray& like = state.master.is_null() ? weight : state.master;
  for (size_t i = 0; i < state_names().size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(NDArray zeros,
                            NDArray::Zeros(like.shape(), like.dtype(), like.context()));
    state.arrays.push_back(std::move(zeros));
  }
  COOPER_RETURN_IF_ERROR(KeepWeight(like, state.arrays));
  return state;
}

absl::Status Optimizer::WeightChanged(const NDArray& weight, const ParameterState& state) const {
  if (!state.master.is_null()) COOPER_RETURN_IF_ERROR(state.master.CopyFrom(weight));
  return KeepWeight(weight, state.arrays);
}

absl::Status Optimizer::Update(const std::string& name, const NDArray& weight, const NDArray& grad,
                               ParameterState* state) {
  const Parameter parameter{.name = name, .weight = weight, .grad = grad, .state = state};
  return UpdateAll({&parameter, 1});
}

absl::Status Optimizer::Check(const Parameter& parameter) const {
  const auto& [name, weight, grad, state] = parameter;
  if (weight.is_null() || grad.is_null() || !SharesMemory(weight.context(), grad.context())) {
    return absl::FailedPreconditionError(
        absl::StrCat("optimizer: parameter '", name, "' is ", weight.ToString(), ", its gradient ",
                     grad.ToString(), ": both must be in one memory"));
  }
  COOPER_RETURN_IF_ERROR(CheckArray(name, "gradient", grad, weight));
  if (grad.dtype() != weight.dtype() || !IsFloating(weight.dtype())) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer: parameter '", name, "' is ", DTypeName(weight.dtype()),
                     ", its gradient ", DTypeName(grad.dtype()), "; expected one floating type"));
  }
  COOPER_RETURN_IF_ERROR(CheckState(name, weight, *state));
  const auto is_elsewhere = [context = weight.context()](const NDArray& array) {
    return !array.is_null() && !SharesMemory(array.context(), context);
  };
  if (is_elsewhere(state->master) ||
      std::any_of(state->arrays.begin(), state->arrays.end(), is_elsewhere)) {
    return absl::FailedPreconditionError(absl::StrCat("optimizer: parameter '", name, "' is ",
                                                      weight.ToString(),
                                                      ", its state is on another device"));
  }
  return absl::OkStatus();
}

absl::Status Optimizer::CheckState(const std::string& name, const NDArray& weight,
                                   const ParameterState& state) const {
  const DType dtype = UsesMaster(weight) ? DType::kFloat32 : weight.dtype();
  const auto check = [&](absl::string_view what, const NDArray& array) -> absl::Status {
    COOPER_RETURN_IF_ERROR(CheckArray(name, what, array, weight));
    if (array.dtype() == dtype) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("optimizer: the ", what, " of parameter '", name,
                                                   "' is ", DTypeName(array.dtype()), ", expected ",
                                                   DTypeName(dtype)));
  };
  for (const NDArray& array : state.arrays) COOPER_RETURN_IF_ERROR(check("optimizer state", array));
  // The update writes the weight from its master copy, element by element.
  if (UsesMaster(weight)) return check("float32 copy", state.master);
  if (state.master.is_null()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "optimizer: the state of parameter '", name, "', which is ", weight.ToString(),
      ", has a float32 copy; expected one of 16-bit weights with multi_precision only"));
}

absl::Status Optimizer::SetInvocation(size_t i, const Parameter& parameter) {
  const auto& [name, weight, grad, state] = parameter;
  const bool master = !state->master.is_null();
  const DeviceType device = weight.context().device_type;
  const std::string& op = master ? master_op_ : op_;
  if (i == invocations_.size() || invocations_[i].call().op->name() != op ||
      invocations_[i].device() != device) {
    std::shared_ptr<UpdateParam> param = NewParam();
    OpCall call{.op = nullptr, .attrs = {}, .params = param};
    COOPER_ASSIGN_OR_RETURN(call.op, FindOp(op));
    COOPER_ASSIGN_OR_RETURN(Invocation invocation, Invocation::Create(std::move(call), device));
    if (i == invocations_.size()) {
      invocations_.push_back(std::move(invocation));
      params_.push_back(std::move(param));
    } else {
      invocations_[i] = std::move(invocation);
      params_[i] = std::move(param);
    }
  }
  absl::InlinedVector<const NDArray*, 8> inputs = {&weight, &grad};
  for (const NDArray& array : state->arrays) inputs.push_back(&array);
  if (master) inputs.push_back(&state->master);
  return invocations_[i].SetArrays(inputs, {&weight});
}

absl::Status Optimizer::NextStep(const Parameter& parameter, UpdateParam* param) {
  const std::string& name = parameter.name;
  double lr = lags_schedule() ? learning_rate() : 0;
  num_update_ = std::max(num_update_, ++parameter.state->num_updates);
  if (!lags_schedule()) lr = learning_rate();
  COOPER_RETURN_IF_ERROR(CheckRate(kind(), lr, name));
  const double clip = options_.clip_gradient.value_or(0);
  param->lr = lr * Multiplier(name, lr_mult_, attr_lr_mult_, 1);
  if (!takes_negative_rates()) COOPER_RETURN_IF_ERROR(CheckRate(kind(), param->lr, name));
  param->wd = options_.wd * Multiplier(name, wd_mult_, attr_wd_mult_, HasWeightDecay(name) ? 1 : 0);
  param->rescale_grad = options_.rescale_grad;
  param->clip_gradient = clip > 0 ? clip : -1;
  SetStep({.name = name, .size = parameter.weight.size(), .t = parameter.state->num_updates},
          param);
  return absl::OkStatus();
}

absl::Status Optimizer::UpdateAll(absl::Span<const Parameter> parameters) {
  COOPER_RETURN_IF_ERROR(PrepareAll(parameters).status());
  return RunPrepared(nullptr);
}

absl::StatusOr<int64_t> Optimizer::PrepareAll(absl::Span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) COOPER_RETURN_IF_ERROR(Check(parameter));
  for (size_t i = 0; i < parameters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(SetInvocation(i, parameters[i]));
  }
  num_update_before_ = num_update_;
  KeepShared();
  for (size_t i = 0; i < parameters.size(); ++i) {
    absl::Status status = NextStep(parameters[i], params_[i].get());
    if (status.ok()) continue;
    ReleasePrepared(parameters.first(i + 1));
    return status;
  }
  num_prepared_ = parameters.size();
  return NameOfPrepared(parameters);
}

// Returns a hash where updates may be equal; two unequal ones have the same number with probability
// 2^-62. The optimizer's own number stands for its constants, such as momentum: another optimizer
// may get the same memory for its states.
int64_t Optimizer::NameOfPrepared(absl::Span<const Parameter> parameters) const {
  constexpr uint64_t kHash = uint64_t{1} << 62;
  if (changes_with_steps()) return next_unlike.fetch_add(1, std::memory_order_relaxed);
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, which is odd
    hash ^= hash >> 29;
  };
  mix(number_);
  mix(parameters.size());
  const auto mix_pointer = [&](const void* pointer) {
    mix(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer)));
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, weight, grad, state] = parameters[i];
    const UpdateParam& param = *params_[i];
    mix_pointer(invocations_[i].call().op);
    for (const double number : {param.lr, param.wd, param.rescale_grad, param.clip_gradient}) {
      mix(std::bit_cast<uint64_t>(number));
    }
    mix(static_cast<uint64_t>(weight.size()));
    mix(static_cast<uint64_t>(weight.dtype()));
    for (const NDArray* array : {&weight, &grad}) mix_pointer(array->raw_data());
    for (const NDArray& array : state->arrays) mix_pointer(array.raw_data());
    if (!state->master.is_null()) mix_pointer(state->master.raw_data());
  }
  return static_cast<int64_t>(kHash | hash % kHash);
}

absl::Status Optimizer::RunPrepared(DeviceQueue* queue) const {
  return RunAll(absl::MakeConstSpan(invocations_).first(num_prepared_), queue);
}

void Optimizer::ReleasePrepared(absl::Span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) --parameter.state->num_updates;
  num_update_ = num_update_before_;
  RestoreShared();
  num_prepared_ = 0;
}

double Optimizer::learning_rate() {
  return options_.lr_scheduler == nullptr ? learning_rate_
                                          : options_.lr_scheduler->LearningRate(num_update_);
}

absl::Status Optimizer::CheckLearningRate() const {
  const LRScheduler* const scheduler = options_.lr_scheduler.get();
  COOPER_RETURN_IF_ERROR(
      CheckRate(kind(), scheduler == nullptr ? learning_rate_ : scheduler->base_lr()));
  return scheduler == nullptr ? absl::OkStatus() : scheduler->CheckOptions();
}

absl::Status Optimizer::set_learning_rate(double learning_rate) {
  if (options_.lr_scheduler != nullptr) {
    return absl::FailedPreconditionError(
        "optimizer: the learning rate is set by its lr_scheduler: change that one's base_lr");
  }
  COOPER_RETURN_IF_ERROR(CheckRate(kind(), learning_rate));
  learning_rate_ = learning_rate;
  return absl::OkStatus();
}

double Optimizer::Multiplier(const std::string& name, const std::map<std::string, double>& given,
                             const std::map<std::string, double>& attributes,
                             double otherwise) const {
  if (const auto it = given.find(name); it != given.end()) return it->second;
  if (const auto it = attributes.find(name); it != attributes.end()) return it->second;
  return otherwise;
}

bool Optimizer::HasWeightDecay(absl::string_view name) const {
  return absl::EndsWith(name, "_weight") || absl::EndsWith(name, "_gamma") ||
         std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
}

absl::Status Optimizer::AddSymbolAttributes(
    const std::map<std::string, std::map<std::string, std::string>>& attr_dict) {
  const std::pair<const char*, std::map<std::string, double>*> kinds[] = {
      {"__lr_mult__", &attr_lr_mult_}, {"__wd_mult__", &attr_wd_mult_}};
  for (const auto& [name, attributes] : attr_dict) {
    for (const auto& [key, multipliers] : kinds) {
      const auto it = attributes.find(key);
      if (it == attributes.end()) continue;
      double value;
      if (!absl::SimpleAtod(it->second, &value)) {
        return absl::InvalidArgumentError(absl::StrCat("optimizer: attribute ", key, " of '", name,
                                                       "' is '", it->second,
                                                       "', expected a number"));
      }
      (*multipliers)[name] = value;
    }
  }
  return absl::OkStatus();
}

std::string Optimizer::SaveState() const {
  KeyValues state;
  state.SetString("kind", kind());
  state.SetInt("num_update", num_update_);
  state.SetDouble("learning_rate", learning_rate_);
  if (options_.lr_scheduler != nullptr) {
    state.SetString("lr_scheduler", options_.lr_scheduler->SaveState());
  }
  Save(&state);
  return state.ToString();
}

absl::Status Optimizer::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kind()));
  COOPER_ASSIGN_OR_RETURN(const int64_t num_update, state.GetInt("num_update"));
  COOPER_ASSIGN_OR_RETURN(const double learning_rate, state.GetDouble("learning_rate"));
  if (num_update < 0 || num_update > kMaxNumUpdates || !std::isfinite(learning_rate)) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer: state of ", num_update, " updates at learning rate ",
                     learning_rate, ", expected a finite rate and at most 2^53 updates"));
  }
  KeyValues before;
  Save(&before);
  COOPER_RETURN_IF_ERROR(Load(state));
  // Loaded last: if it fails, the schedule is unchanged and the rest is restored.
  absl::Status status = LoadSchedule(state);
  if (!status.ok()) {
    status.Update(Load(before));
    return status;
  }
  num_update_ = num_update;
  learning_rate_ = learning_rate;
  return absl::OkStatus();
}

absl::Status Optimizer::LoadSchedule(const KeyValues& state) {
  if (options_.lr_scheduler == nullptr || !state.Has("lr_scheduler")) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const std::string schedule, state.GetString("lr_scheduler"));
  return options_.lr_scheduler->LoadState(schedule);
}

}  // namespace cooper
