// Gives parameters their values: Init, Set and Complete, and those of a captured state.

#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/parameters/given_parameter.h"
#include "module/parameters/parameters.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kParamsIgnored[] =
    "there are parameters already: the given ones are ignored without force_init";

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

absl::Status WithName(const absl::Status& status, const char* call, const std::string& name) {
  return AddContext(status, call, "parameter '", name, "'");
}

}  // namespace

bool Parameters::Stays(ParameterKind kind, const std::string& name,
                       const std::optional<ArrayMap>& given, const NetworkNames* network) const {
  if (network == nullptr || (given.has_value() && given->contains(name))) return false;
  const auto own = kind == ParameterKind::kArg ? network->args : network->auxs;
  return initialized_ && Find(kind, name)->initialized && !absl::c_linear_search(own, name);
}

absl::Status Parameters::InitOne(ParameterKind kind, const std::string& name) {
  Entries& entries = of(kind);
  const NDArray& array = EntryOf(kind, name).values[0];
  const auto waiting = entries.waiting.find(name);
  if (waiting != entries.waiting.end()) {
    COOPER_RETURN_IF_ERROR(WithName(array.CopyFrom(waiting->second), "", name));
    entries.waiting.erase(waiting);
    return absl::OkStatus();
  }
  if (entries.given && !allow_missing_) return NotGivenError(name);
  if (initializer_ == nullptr) return absl::OkStatus();
  const auto attrs = attrs_.find(name);
  return initializer_->Init(
      {.name = name, .attrs = attrs == attrs_.end() ? AttrMap() : attrs->second}, array,
      init_seed_);
}

absl::Status Parameters::InitNames(ParameterKind kind, absl::Span<const std::string> names) {
  for (const std::string& name : names) {
    COOPER_RETURN_IF_ERROR(InitOne(kind, name));
    COOPER_RETURN_IF_ERROR(Broadcast(kind, name));
    EntryOf(kind, name).initialized = true;
  }
  return absl::OkStatus();
}

absl::Status Parameters::Init(const InitParamsOptions& options, const NetworkNames* network) {
  if (initialized_ && !options.force_init) {
    if (options.arg_params.has_value() && !options.arg_params->empty()) {
      LOG(WARNING) << kParamsIgnored;
    }
    // Networks that are bound later may need it.
    if (initializer_ == nullptr) {
      initializer_ = options.initializer;
      init_seed_ = options.seed.value_or(DefaultSeed());
      allow_missing_ = true;
    }
    return absl::OkStatus();
  }
  const std::pair<ParameterKind, const std::optional<ArrayMap>*> kinds[] = {
      {ParameterKind::kArg, &options.arg_params}, {ParameterKind::kAux, &options.aux_params}};
  // Parameters are initialized by name, so that their random values do not depend on the order of a
  // graph or on the network. All of them are checked before anything is overwritten.
  std::vector<std::string> names[2];
  for (size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [kind, given] = kinds[i];
    for (const auto& [name, entry] : of(kind).by_name) {
      if (Stays(kind, name, *given, network)) continue;
      names[i].push_back(name);
      if (!given->has_value()) continue;
      COOPER_RETURN_IF_ERROR(
          CheckGivenParameter(name, entry.values[0], **given, options.allow_missing));
    }
  }
  initializer_ = options.initializer;
  init_seed_ = options.seed.value_or(DefaultSeed());
  allow_missing_ = options.allow_missing;
  for (const auto& [kind, given] : kinds) {
    of(kind).given = given->has_value();
    of(kind).waiting = given->value_or(ArrayMap());
  }
  for (size_t i = 0; i < std::size(kinds); ++i) {
    COOPER_RETURN_IF_ERROR(InitNames(kinds[i].first, names[i]));
  }
  for (const std::string& name : names[0]) {
    if (hooks_.value_set) COOPER_RETURN_IF_ERROR(WithName(hooks_.value_set(name), "", name));
  }
  // Waiting values are copied, since the caller may change its arrays.
  for (const auto& [kind, given] : kinds) {
    for (auto& [name, array] : of(kind).waiting) {
      COOPER_ASSIGN_OR_RETURN(array, array.Copy());
    }
  }
  initialized_ = true;
  return absl::OkStatus();
}

absl::Status Parameters::Set(const ArrayMap& args, const ArrayMap& auxs,
                             const SetParamsOptions& options, const NetworkNames* network) {
  if (initialized_ && !options.force_init) {
    LOG(WARNING) << kParamsIgnored;
    return absl::OkStatus();
  }
  if (!options.allow_missing) {
    const std::shared_ptr<const Initializer> initializer = initializer_;
    const uint64_t seed = init_seed_;
    const ArrayMap waiting_args = of(ParameterKind::kArg).waiting;
    const ArrayMap waiting_auxs = of(ParameterKind::kAux).waiting;
    COOPER_RETURN_IF_ERROR(Init({.initializer = nullptr,
                                 .arg_params = args,
                                 .aux_params = auxs,
                                 .allow_missing = false,
                                 .force_init = true,
                                 .allow_extra = options.allow_extra},
                                network));
    // Parameters of networks that are bound later still get their values by the earlier rules: the
    // waiting values, or the initializer.
    of(ParameterKind::kArg).waiting.insert(waiting_args.begin(), waiting_args.end());
    of(ParameterKind::kAux).waiting.insert(waiting_auxs.begin(), waiting_auxs.end());
    if (initializer == nullptr) return absl::OkStatus();
    initializer_ = initializer;
    init_seed_ = seed;
    allow_missing_ = true;
    return absl::OkStatus();
  }
  const std::pair<ParameterKind, const ArrayMap*> kinds[] = {{ParameterKind::kArg, &args},
                                                             {ParameterKind::kAux, &auxs}};
  for (const auto& [kind, given] : kinds) {
    for (const auto& [name, array] : *given) {
      const ParameterArrays* entry = Find(kind, name);
      if (entry != nullptr) {
        COOPER_RETURN_IF_ERROR(
            CheckGivenParameter(name, entry->values[0], *given, /*allow_missing=*/false));
      } else if (!options.allow_extra) {
        return absl::InvalidArgumentError(
            absl::StrCat("SetParams: the module has no parameter '", name, "'"));
      }
    }
  }
  for (const auto& [kind, given] : kinds) {
    for (const auto& [name, array] : *given) {
      const ParameterArrays* entry = Find(kind, name);
      if (entry == nullptr) {
        if (network != nullptr) continue;
        COOPER_ASSIGN_OR_RETURN(of(kind).waiting[name], array.Copy());
        continue;
      }
      absl::Status status = entry->values[0].CopyFrom(array);
      if (status.ok()) status = Publish(kind, name);
      COOPER_RETURN_IF_ERROR(WithName(status, "SetParams: ", name));
    }
  }
  // As in MXNet, parameters that are missing in the maps keep their values.
  for (const auto& [kind, given] : kinds) {
    for (auto& [name, entry] : of(kind).by_name) entry.initialized = true;
  }
  initialized_ = true;
  return absl::OkStatus();
}

absl::Status Parameters::CheckCanInit(ParameterKind kind,
                                      absl::Span<const std::string> names) const {
  if (initializer_ != nullptr) return absl::OkStatus();
  for (const std::string& name : names) {
    if (of(kind).waiting.contains(name)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("parameter '", name,
                     "' has no value: InitParams was given none, and no initializer to make one"));
  }
  return absl::OkStatus();
}

std::vector<std::string> Parameters::Uninitialized(ParameterKind kind,
                                                   absl::Span<const std::string> names) const {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const ParameterArrays* entry = Find(kind, name);
    if (entry != nullptr && !entry->initialized) found.push_back(name);
  }
  return found;
}

absl::Status Parameters::Complete(absl::Span<const std::string> args,
                                  absl::Span<const std::string> auxs,
                                  const std::map<std::string, AttrMap>& attrs) {
  for (const auto& [name, of_name] : attrs) {
    if (Find(ParameterKind::kArg, name) != nullptr || Find(ParameterKind::kAux, name) != nullptr) {
      attrs_.emplace(name, of_name);
    }
  }
  AddToOrder(args);
  if (share_values_) COOPER_RETURN_IF_ERROR(ShareValues(true));
  if (!initialized_) return ApplyRestored();
  std::vector<std::string> new_args = Uninitialized(ParameterKind::kArg, args);
  std::vector<std::string> found;
  if (hooks_.find_values) {
    COOPER_ASSIGN_OR_RETURN(found, hooks_.find_values(new_args));
    for (const std::string& name : found) new_args.erase(absl::c_find(new_args, name));
  }
  const std::vector<std::string> new_auxs = Uninitialized(ParameterKind::kAux, auxs);
  COOPER_RETURN_IF_ERROR(CheckCanInit(ParameterKind::kArg, new_args));
  COOPER_RETURN_IF_ERROR(CheckCanInit(ParameterKind::kAux, new_auxs));
  if (hooks_.fill) COOPER_RETURN_IF_ERROR(hooks_.fill(found));
  for (const std::string& name : found) {
    EntryOf(ParameterKind::kArg, name).initialized = true;
    of(ParameterKind::kArg).waiting.erase(name);
  }
  COOPER_RETURN_IF_ERROR(InitNames(ParameterKind::kArg, new_args));
  COOPER_RETURN_IF_ERROR(InitNames(ParameterKind::kAux, new_auxs));
  return ApplyRestored();
}

absl::Status Parameters::ApplyLoaded() {
  if (!loaded_.has_value()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(Set(loaded_->args, loaded_->auxs, {}));
  loaded_.reset();
  return absl::OkStatus();
}

absl::StatusOr<SavedParameters> Parameters::Capture(bool args_are_equal,
                                                    const std::set<std::string>& grads) const {
  SavedParameters state;
  for (const ParameterKind kind : kAllKinds) {
    // Values that wait for their network are part of the model. A bound parameter of the same name
    // overwrites the waiting value.
    ArrayMap& copies = ArraysOf(kind, state);
    for (const auto& [name, array] : of(kind).waiting) {
      COOPER_ASSIGN_OR_RETURN(copies[name], array.CopyTo(Context::Cpu()));
    }
    const bool differs = kind != ParameterKind::kArg || !args_are_equal;
    for (const auto& [name, entry] : all(kind)) {
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
  const auto& restored = of(ParameterKind::kArg).restored_grads;
  for (const std::string& name : grads) {
    const auto waiting = restored.find(name);
    for (int i = 0; i < num_contexts(); ++i) {
      NDArray grad = Grad(name, i);
      if (grad.is_null() && waiting != restored.end()) grad = waiting->second[i];
      if (grad.is_null()) continue;
      ReplicaState& replica = i == 0 ? state : state.replicas[i];
      COOPER_ASSIGN_OR_RETURN(replica.grads[name], grad.CopyTo(Context::Cpu()));
    }
  }
  return state;
}

absl::Status Parameters::CheckHasAll(const SavedParameters& state) const {
  for (const ParameterKind kind : {ParameterKind::kArg, ParameterKind::kAux}) {
    for (const auto& [name, entry] : all(kind)) {
      if (ArraysOf(kind, state).contains(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the training state has no parameter '", name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status Parameters::RestoreContext(int context, const ReplicaState& saved) {
  const auto wait = [&](std::map<std::string, std::vector<NDArray>>& by_name,
                        const std::string& name, const NDArray& array) {
    std::vector<NDArray>& waiting = by_name[name];
    waiting.resize(contexts_.size());
    waiting[context] = array;
  };
  for (const ParameterKind kind : kAllKinds) {
    // Init sets the parameters of the first context.
    if (context == 0 && kind != ParameterKind::kState) continue;
    for (const auto& [name, array] : ArraysOf(kind, saved)) {
      const NDArray value = Value(kind, name, context);
      if (value.is_null()) {
        wait(of(kind).restored, name, array);
      } else {
        COOPER_RETURN_IF_ERROR(value.CopyFrom(array));
      }
    }
  }
  for (const auto& [name, array] : saved.grads) {
    const NDArray grad = Grad(name, context);
    if (grad.is_null()) {
      wait(of(ParameterKind::kArg).restored_grads, name, array);
    } else {
      COOPER_RETURN_IF_ERROR(
          AddContext(grad.CopyFrom(array), "gradient of parameter '", name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status Parameters::Restore(const SavedParameters& state) {
  COOPER_RETURN_IF_ERROR(RestoreContext(0, state));
  for (const auto& [index, saved] : state.replicas) {
    COOPER_RETURN_IF_ERROR(RestoreContext(index, saved));
  }
  return absl::OkStatus();
}

absl::Status Parameters::ApplyRestored() {
  for (const ParameterKind kind : kAllKinds) {
    auto& restored = of(kind).restored;
    for (auto it = restored.begin(); it != restored.end();) {
      const ParameterArrays* entry = Find(kind, it->first);
      if (entry == nullptr) {
        ++it;
        continue;
      }
      for (size_t i = 0; i < contexts_.size(); ++i) {
        if (it->second[i].is_null()) continue;
        COOPER_RETURN_IF_ERROR(WithName(entry->values[i].CopyFrom(it->second[i]), "", it->first));
      }
      it = restored.erase(it);
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
