#include "module/training_state.h"

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/params_file.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

constexpr char kVersionName[] = "cooper:training_state";
constexpr int64_t kVersion = 1;

absl::Status CopyAll(const ArrayMap& from, ArrayMap* to) {
  for (const auto& [name, array] : from) {
    COOPER_ASSIGN_OR_RETURN((*to)[name], array.CopyTo(Context::Cpu()));
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> FromInts(const std::vector<int64_t>& values) {
  return NDArray::FromVector(Shape({static_cast<int64_t>(values.size())}), values);
}

absl::StatusOr<NDArray> FromText(const std::string& text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  return NDArray::FromVector(Shape({static_cast<int64_t>(bytes.size())}), bytes);
}

void AddAll(const char* prefix, const ArrayMap& arrays, NamedArrays* list) {
  for (const auto& [name, array] : arrays) list->emplace_back(absl::StrCat(prefix, name), array);
}

// kInvalidArgument, naming it, if a parameter has no value in the state.
absl::Status CheckHasAll(const ArrayMap& arrays, const ArrayMap& saved) {
  for (const auto& [name, array] : arrays) {
    if (saved.contains(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the training state has no parameter '", name, "'"));
  }
  return absl::OkStatus();
}

// Takes one entry of the file into `state`.
absl::Status Take(const std::string& name, const NDArray& array, TrainingState* state) {
  const std::pair<const char*, ArrayMap*> maps[] = {
      {"arg:", &state->args}, {"aux:", &state->auxs}, {"state:", &state->states}};
  for (const auto& [prefix, map] : maps) {
    if (absl::StartsWith(name, prefix)) {
      (*map)[name.substr(std::string(prefix).size())] = array;
      return absl::OkStatus();
    }
  }
  if (absl::StartsWith(name, "opt:")) {
    state->optimizer.emplace_back(name.substr(4), array);
    return absl::OkStatus();
  }
  if (name == "text:iterator" || name == "text:metric") {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, array.Data<uint8_t>());
    (name == "text:iterator" ? state->iterator : state->metric)
        .assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return absl::OkStatus();
  }
  if (name == "position") {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<int64_t> values, array.Data<int64_t>());
    if (values.size() != 4 || values[0] < 0 || values[0] > (int64_t{1} << 30) || values[1] < 0) {
      return absl::InvalidArgumentError("'position' is no position");
    }
    state->epoch = static_cast<int>(values[0]);
    state->nbatch = values[1];
    state->random = {.seed = static_cast<uint64_t>(values[2]),
                     .runs = static_cast<uint64_t>(values[3])};
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown entry '", name, "'"));
}

}  // namespace

absl::StatusOr<TrainingState> CaptureTraining(const ModuleGroup& group, const DataIter& iter,
                                              const EvalMetric* metric, int epoch, int64_t nbatch) {
  TrainingState state{.epoch = epoch, .nbatch = nbatch};
  // Values that wait for their bucket are part of the model; those of one name are older.
  COOPER_RETURN_IF_ERROR(CopyAll(group.given_args, &state.args));
  COOPER_RETURN_IF_ERROR(CopyAll(group.given_auxs, &state.auxs));
  COOPER_RETURN_IF_ERROR(CopyAll(group.first().args, &state.args));
  COOPER_RETURN_IF_ERROR(CopyAll(group.first().auxs, &state.auxs));
  COOPER_RETURN_IF_ERROR(CopyAll(group.first().states, &state.states));
  if (group.updater() != nullptr) {
    COOPER_ASSIGN_OR_RETURN(state.optimizer, group.updater()->GetStates());
    for (auto& [name, array] : state.optimizer) {
      COOPER_ASSIGN_OR_RETURN(array, array.CopyTo(Context::Cpu()));
    }
  }
  state.random = *group.first().random;
  COOPER_ASSIGN_OR_RETURN(state.iterator, iter.SaveState());
  if (metric != nullptr) state.metric = metric->SaveState();
  return state;
}

absl::Status RestoreTraining(const TrainingState& state, BaseModule& module, ModuleGroup& group,
                             DataIter& iter, EvalMetric* metric,
                             const InitOptimizerOptions& optimizer,
                             const InitParamsOptions& params) {
  COOPER_RETURN_IF_ERROR(CheckHasAll(group.first().args, state.args));
  COOPER_RETURN_IF_ERROR(CheckHasAll(group.first().auxs, state.auxs));
  // Parameters of buckets that are not bound yet wait among the given ones; those that no bucket
  // had when the state was taken come from the initializer, as in a run that was not stopped.
  COOPER_RETURN_IF_ERROR(module.InitParams({.initializer = params.initializer,
                                            .seed = params.seed,
                                            .arg_params = state.args,
                                            .aux_params = state.auxs,
                                            .allow_missing = true,
                                            .force_init = true}));
  for (const auto& [name, array] : state.states) {
    const auto it = group.first().states.find(name);
    if (it == group.first().states.end()) {
      COOPER_ASSIGN_OR_RETURN(group.first().states[name],
                              array.CopyTo(group.first().arena->context()));
    } else {
      COOPER_RETURN_IF_ERROR(it->second.CopyFrom(array));
    }
  }
  COOPER_RETURN_IF_ERROR(module.InitOptimizer(optimizer));
  if (group.updater() == nullptr) {
    return absl::InvalidArgumentError("RestoreTraining: the group is not the module's");
  }
  COOPER_RETURN_IF_ERROR(group.updater()->SetStates(state.optimizer));
  *group.first().random = state.random;
  COOPER_RETURN_IF_ERROR(iter.LoadState(state.iterator));
  if (metric != nullptr && !state.metric.empty()) {
    COOPER_RETURN_IF_ERROR(metric->LoadState(state.metric));
  }
  return absl::OkStatus();
}

absl::Status SaveTrainingState(const std::string& path, const TrainingState& state) {
  NamedArrays list;
  COOPER_ASSIGN_OR_RETURN(NDArray version, FromInts({kVersion}));
  list.emplace_back(kVersionName, std::move(version));
  AddAll("arg:", state.args, &list);
  AddAll("aux:", state.auxs, &list);
  AddAll("state:", state.states, &list);
  for (const auto& [name, array] : state.optimizer) list.emplace_back("opt:" + name, array);
  COOPER_ASSIGN_OR_RETURN(NDArray iterator, FromText(state.iterator));
  list.emplace_back("text:iterator", std::move(iterator));
  COOPER_ASSIGN_OR_RETURN(NDArray metric, FromText(state.metric));
  list.emplace_back("text:metric", std::move(metric));
  COOPER_ASSIGN_OR_RETURN(NDArray position, FromInts({state.epoch, state.nbatch,
                                                      static_cast<int64_t>(state.random.seed),
                                                      static_cast<int64_t>(state.random.runs)}));
  list.emplace_back("position", std::move(position));
  return SaveNamedArrays(path, list);
}

absl::StatusOr<TrainingState> LoadTrainingState(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays list, LoadNamedArrays(path));
  if (list.empty() || list[0].first != kVersionName) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no training state"));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> version, list[0].second.ToVector<int64_t>());
  if (version.size() != 1 || version[0] != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": training state of version ",
                                                   version.empty() ? 0 : version[0], ", expected ",
                                                   kVersion));
  }
  TrainingState state;
  bool have_position = false;
  for (size_t i = 1; i < list.size(); ++i) {
    absl::Status status = Take(list[i].first, list[i].second, &state);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
    }
    have_position = have_position || list[i].first == "position";
  }
  if (!have_position) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the entry 'position' is missing"));
  }
  return state;
}

}  // namespace cooper
