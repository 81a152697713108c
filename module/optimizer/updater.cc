#include "module/optimizer/updater.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/optimizer/saved_names.h"
#include "module/pickle/mxnet_states.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

absl::Status Missing(const std::string& key) {
  return absl::InvalidArgumentError(absl::StrCat("optimizer states: '", key, "' is missing"));
}

absl::string_view BytesOf(const MappedFile& file) {
  return {static_cast<const char*>(file.data.get()), static_cast<size_t>(file.bytes)};
}

// Moves an array to the device that updates it: a loaded state is in CPU memory.
absl::Status MoveTo(Context context, NDArray* array) {
  if (array->is_null() || SharesMemory(array->context(), context)) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(*array, array->CopyTo(context));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParameterState*> Updater::StateOf(const std::string& name, const NDArray& weight) {
  auto it = states_.find(name);
  if (it == states_.end()) {
    COOPER_ASSIGN_OR_RETURN(ParameterState state, optimizer_->CreateState(weight));
    it = states_.emplace(name, std::move(state)).first;
  }
  ParameterState& state = it->second;
  for (NDArray& array : state.arrays) COOPER_RETURN_IF_ERROR(MoveTo(weight.context(), &array));
  COOPER_RETURN_IF_ERROR(MoveTo(weight.context(), &state.master));
  return &state;
}

absl::Status Updater::Update(const std::string& name, const NDArray& weight, const NDArray& grad) {
  const Parameter parameter{.name = name, .weight = weight, .grad = grad};
  return UpdateAll({&parameter, 1});
}

absl::Status Updater::UpdateAll(absl::Span<const Parameter> parameters) {
  COOPER_RETURN_IF_ERROR(PrepareAll(parameters).status());
  return RunPrepared(nullptr);
}

absl::StatusOr<int64_t> Updater::PrepareAll(absl::Span<const Parameter> parameters) {
  parameters_.clear();
  for (const auto& [name, weight, grad] : parameters) {
    COOPER_ASSIGN_OR_RETURN(ParameterState* const state, StateOf(name, weight));
    parameters_.push_back({name, weight, grad, state});
  }
  return optimizer_->PrepareAll(parameters_);
}

absl::Status Updater::WeightChanged(const std::string& name, const NDArray& weight) const {
  const auto it = states_.find(name);
  return it == states_.end() ? absl::OkStatus() : optimizer_->WeightChanged(weight, it->second);
}

absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> Updater::GetStates() const {
  std::vector<std::pair<std::string, NDArray>> states;
  const std::string text = optimizer_->SaveState();
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  COOPER_ASSIGN_OR_RETURN(
      NDArray optimizer, NDArray::FromVector<uint8_t>({static_cast<int64_t>(bytes.size())}, bytes));
  states.emplace_back(kSavedOptimizer, std::move(optimizer));
  const std::vector<std::string> array_names = optimizer_->state_names();
  for (const auto& [name, state] : states_) {
    COOPER_ASSIGN_OR_RETURN(NDArray count, NDArray::FromVector<int64_t>({1}, {state.num_updates}));
    states.emplace_back(absl::StrCat(name, ":", kSavedNumUpdates), std::move(count));
    for (size_t i = 0; i < array_names.size(); ++i) {
      states.emplace_back(absl::StrCat(name, ":", array_names[i]), state.arrays[i]);
    }
    if (!state.master.is_null()) {
      states.emplace_back(absl::StrCat(name, ":", kSavedMaster), state.master);
    }
  }
  return states;
}

absl::Status Updater::SetStates(const std::vector<std::pair<std::string, NDArray>>& states,
                                const ArrayMap& weights) {
  const std::vector<std::string> array_names = optimizer_->state_names();
  std::map<std::string, ParameterState> parsed;
  std::string optimizer_state;
  for (const auto& [key, array] : states) {
    if (key == kSavedOptimizer) {
      COOPER_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, array.ToVector<uint8_t>());
      optimizer_state.assign(bytes.begin(), bytes.end());
      continue;
    }
    const size_t colon = key.rfind(':');
    const std::string what = colon == std::string::npos ? "" : key.substr(colon + 1);
    const auto [parameter, is_new] = parsed.try_emplace(key.substr(0, colon));
    ParameterState& state = parameter->second;
    if (is_new) {
      state.num_updates = -1;  // not read yet
      state.arrays.resize(array_names.size());
    }
    const auto it = std::find(array_names.begin(), array_names.end(), what);
    if (it != array_names.end()) {
      COOPER_ASSIGN_OR_RETURN(state.arrays[it - array_names.begin()], array.Copy());
    } else if (what == kSavedMaster) {
      COOPER_ASSIGN_OR_RETURN(state.master, array.Copy());
    } else if (what == kSavedNumUpdates && array.size() == 1) {
      COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> count, array.ToVector<int64_t>());
      state.num_updates = count[0];
      if (state.num_updates < 0 || state.num_updates > kMaxNumUpdates) {
        return absl::InvalidArgumentError(absl::StrCat("optimizer states: '", key, "' is ",
                                                       state.num_updates,
                                                       ", expected a number from 0 to 2^53"));
      }
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "optimizer states: optimizer ", optimizer_->kind(), " has no state '", key, "'"));
    }
  }
  for (const auto& [name, state] : parsed) {
    for (size_t i = 0; i < array_names.size(); ++i) {
      if (state.arrays[i].is_null()) return Missing(absl::StrCat(name, ":", array_names[i]));
    }
    if (state.num_updates < 0) return Missing(absl::StrCat(name, ":", kSavedNumUpdates));
    if (const auto weight = weights.find(name); weight != weights.end()) {
      COOPER_RETURN_IF_ERROR(optimizer_->CheckState(name, weight->second, state));
    }
  }
  if (optimizer_state.empty()) return Missing(kSavedOptimizer);
  COOPER_RETURN_IF_ERROR(optimizer_->LoadState(optimizer_state));
  states_ = std::move(parsed);
  return absl::OkStatus();
}

absl::Status Updater::SaveStates(const std::string& path) const {
  COOPER_ASSIGN_OR_RETURN(const auto states, GetStates());
  return SaveNamedArrays(path, states);
}

absl::Status Updater::SetMxnetStates(absl::string_view bytes, const LoadStatesOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const MxnetStates saved, ParseMxnetStates(bytes));
  const auto count_of = [this](const std::string& name) {
    const auto it = states_.find(name);
    return it == states_.end() ? optimizer_->begin_num_update() : it->second.num_updates;
  };
  COOPER_ASSIGN_OR_RETURN(
      const NamedArrays states,
      ConvertMxnetStates(saved, *optimizer_, options.positions, options.weights, count_of));
  return SetStates(states, options.weights);
}

absl::Status Updater::LoadStates(const std::string& path, const LoadStatesOptions& options) {
  const double rate = optimizer_->learning_rate();
  COOPER_ASSIGN_OR_RETURN(const MappedFile file, AddContext(MapFile(path), "optimizer states"));
  if (IsMxnetStates(BytesOf(file))) {
    COOPER_RETURN_IF_ERROR(
        AddContext(SetMxnetStates(BytesOf(file), options), "optimizer states: '", path, "'"));
  } else {
    COOPER_ASSIGN_OR_RETURN(const NamedArrays states,
                            AddContext(LoadNamedArrays(path), "optimizer states"));
    COOPER_RETURN_IF_ERROR(AddContext(SetStates(states, options.weights), "'", path, "'"));
  }
  if (!options.keep_rate || optimizer_->lr_scheduler() != nullptr) return absl::OkStatus();
  return optimizer_->set_learning_rate(rate);
}

absl::Status CheckStatesFile(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const MappedFile file, MapFile(path));
  return IsMxnetStates(BytesOf(file)) ? absl::OkStatus() : CheckParamsFile(path);
}

}  // namespace cooper
