// Saves and loads optimizer states, and captures and restores the parameters' part of a training
// state.

#include <utility>

#include "absl/strings/str_cat.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using NamedStates = std::vector<std::pair<std::string, NDArray>>;

constexpr ParameterKind kAllKinds[] = {ParameterKind::kArg, ParameterKind::kAux,
                                       ParameterKind::kState};

// Returns the arrays of a kind in a SavedParameters or ReplicaState.
template <typename State>
auto& ArraysOf(ParameterKind kind, State& state) {
  switch (kind) {
    case ParameterKind::kArg:
      return state.args;
    case ParameterKind::kAux:
      return state.auxs;
    case ParameterKind::kState:
      break;
  }
  return state.states;
}

// Copies `states`, which the updater still owns, to CPU memory.
absl::Status CopyList(const NamedStates& states, NamedStates* copies) {
  for (const auto& [name, array] : states) {
    copies->emplace_back(name, NDArray());
    COOPER_ASSIGN_OR_RETURN(copies->back().second, array.CopyTo(Context::Cpu()));
  }
  return absl::OkStatus();
}

absl::Status CopyOptimizer(const Updater& updater, NamedStates* copies) {
  COOPER_ASSIGN_OR_RETURN(const NamedStates states, updater.GetStates());
  return CopyList(states, copies);
}

}  // namespace

absl::Status ParameterStore::SaveOptimizerStates(const std::string& path) const {
  return updater()->SaveStates(path);
}

ArrayMap ParameterStore::WeightsOf(int context) const {
  ArrayMap weights;
  for (const auto& [name, entry] : of(ParameterKind::kArg).by_name) {
    weights.emplace(name, entry.values[context]);
  }
  return weights;
}

absl::Status ParameterStore::LoadOptimizerStates(const std::string& path) {
  const bool keep_rate = learning_.rate_given;
  if (learning_.update_on_kvstore) return updater()->LoadStates(path, WeightsOf(0), keep_rate);
  for (size_t i = 0; i < learning_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        learning_.updaters[i]->LoadStates(path, WeightsOf(static_cast<int>(i)), keep_rate));
  }
  return absl::OkStatus();
}

absl::StatusOr<SavedParameters> ParameterStore::Capture() const {
  SavedParameters state;
  for (const ParameterKind kind : kAllKinds) {
    // Values that wait for their network are part of the model. A bound parameter of the same name
    // overwrites the waiting value.
    ArrayMap& copies = ArraysOf(kind, state);
    for (const auto& [name, array] : of(kind).waiting) {
      COOPER_ASSIGN_OR_RETURN(copies[name], array.CopyTo(Context::Cpu()));
    }
    const bool differs = kind != ParameterKind::kArg || learning_.kvstore == nullptr;
    for (const auto& [name, entry] : of(kind).by_name) {
      COOPER_ASSIGN_OR_RETURN(copies[name], entry.values[0].CopyTo(Context::Cpu()));
      for (int i = 1; i < num_contexts() && differs; ++i) {
        COOPER_ASSIGN_OR_RETURN(ArraysOf(kind, state.replicas[i])[name],
                                entry.values[i].CopyTo(Context::Cpu()));
      }
    }
    for (const auto& [name, values] : of(kind).restored) {
      for (int i = 0; i < num_contexts(); ++i) {
        if (values[i].is_null()) continue;
        ReplicaState& replica = i == 0 ? state : state.replicas[i];
        COOPER_ASSIGN_OR_RETURN(ArraysOf(kind, replica)[name], values[i].CopyTo(Context::Cpu()));
      }
    }
  }
  for (const std::string& name : gradient_record_.sums()) {
    const auto waiting = of(ParameterKind::kArg).restored_grads.find(name);
    for (int i = 0; i < num_contexts(); ++i) {
      NDArray grad = Grad(name, i);
      if (grad.is_null() && waiting != of(ParameterKind::kArg).restored_grads.end()) {
        grad = waiting->second[i];
      }
      if (grad.is_null()) continue;
      ReplicaState& replica = i == 0 ? state : state.replicas[i];
      COOPER_ASSIGN_OR_RETURN(replica.grads[name], grad.CopyTo(Context::Cpu()));
    }
  }
  if (updater() != nullptr) COOPER_RETURN_IF_ERROR(CopyOptimizer(*updater(), &state.optimizer));
  for (size_t i = 1; i < learning_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        CopyOptimizer(*learning_.updaters[i], &state.replicas[static_cast<int>(i)].optimizer));
  }
  const std::shared_ptr<KVStore>& kvstore = learning_.kvstore;
  if (kvstore == nullptr) return state;
  if (kvstore->num_workers() > 1) state.updates = updates_;
  COOPER_ASSIGN_OR_RETURN(const NamedStates stored, kvstore->GetState());
  COOPER_RETURN_IF_ERROR(CopyList(stored, &state.kvstore));
  // Parameters that only other processes have bound so far.
  for (const std::string& key : kvstore->keys()) {
    if (Find(ParameterKind::kArg, key) != nullptr) continue;
    COOPER_ASSIGN_OR_RETURN(state.args[key], kvstore->Get(key));
  }
  return state;
}

absl::Status ParameterStore::CheckHasAll(const SavedParameters& state) const {
  for (const ParameterKind kind : {ParameterKind::kArg, ParameterKind::kAux}) {
    for (const auto& [name, entry] : of(kind).by_name) {
      if (ArraysOf(kind, state).contains(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the training state has no parameter '", name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::RestoreContext(int context, const ReplicaState& saved) {
  for (const ParameterKind kind : kAllKinds) {
    // Init sets the parameters of the first context.
    if (context == 0 && kind != ParameterKind::kState) continue;
    for (const auto& [name, array] : ArraysOf(kind, saved)) {
      const NDArray value = Value(kind, name, context);
      if (!value.is_null()) {
        COOPER_RETURN_IF_ERROR(value.CopyFrom(array));
      } else {
        std::vector<NDArray>& waiting = of(kind).restored[name];
        waiting.resize(contexts_.size());
        waiting[context] = array;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::RestoreGrads(int context, const ArrayMap& grads) {
  for (const auto& [name, array] : grads) {
    gradient_record_.Accumulate(name, /*shared=*/false);
    const NDArray grad = Grad(name, context);
    if (!grad.is_null()) {
      COOPER_RETURN_IF_ERROR(
          AddContext(grad.CopyFrom(array), "gradient of parameter '", name, "'"));
      continue;
    }
    std::vector<NDArray>& waiting = of(ParameterKind::kArg).restored_grads[name];
    waiting.resize(contexts_.size());
    waiting[context] = array;
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::ApplyRestored() {
  for (const ParameterKind kind : kAllKinds) {
    auto& restored = of(kind).restored;
    for (auto it = restored.begin(); it != restored.end();) {
      const Entry* entry = Find(kind, it->first);
      if (entry == nullptr) {
        ++it;
        continue;
      }
      for (size_t i = 0; i < contexts_.size(); ++i) {
        if (it->second[i].is_null()) continue;
        COOPER_RETURN_IF_ERROR(
            AddContext(entry->values[i].CopyFrom(it->second[i]), "parameter '", it->first, "'"));
      }
      it = restored.erase(it);
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::Restore(const SavedParameters& state) {
  if (!state.replicas.empty() && state.replicas.rbegin()->first >= num_contexts()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RestoreTraining: the state is that of more contexts than the module's ", num_contexts()));
  }
  // Gradients accumulated so far do not belong to the restored run.
  if (!gradient_record_.sums().empty()) COOPER_RETURN_IF_ERROR(ZeroGrads());
  COOPER_RETURN_IF_ERROR(RestoreContext(0, state));
  COOPER_RETURN_IF_ERROR(RestoreGrads(0, state.grads));
  for (const auto& [index, saved] : state.replicas) {
    COOPER_RETURN_IF_ERROR(RestoreContext(index, saved));
    COOPER_RETURN_IF_ERROR(RestoreGrads(index, saved.grads));
  }
  updates_ = state.updates.value_or(0);
  if (updater() != nullptr) {
    COOPER_RETURN_IF_ERROR(updater()->SetStates(state.optimizer, WeightsOf(0)));
  }
  for (size_t i = 1; i < learning_.updaters.size(); ++i) {
    const auto saved = state.replicas.find(static_cast<int>(i));
    const bool own = saved != state.replicas.end() && !saved->second.optimizer.empty();
    COOPER_RETURN_IF_ERROR(learning_.updaters[i]->SetStates(
        own ? saved->second.optimizer : state.optimizer, WeightsOf(static_cast<int>(i))));
  }
  if (learning_.kvstore == nullptr) return absl::OkStatus();
  return learning_.kvstore->SetState(state.kvstore);
}

}  // namespace cooper
