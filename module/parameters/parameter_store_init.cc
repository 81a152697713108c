// Gives parameters their values: Init, Set and Complete.

#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/parameters/given_parameter.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kParamsIgnored[] =
    "there are parameters already: the given ones are ignored without force_init";

absl::Status WithName(const absl::Status& status, const char* call, const std::string& name) {
  return AddContext(status, call, "parameter '", name, "'");
}

}  // namespace

bool ParameterStore::Stays(ParameterKind kind, const std::string& name,
                           const std::optional<ArrayMap>& given,
                           const NetworkNames* network) const {
  if (network == nullptr || (given.has_value() && given->contains(name))) return false;
  const auto own = kind == ParameterKind::kArg ? network->args : network->auxs;
  return initialized_ && Find(kind, name)->initialized && !absl::c_linear_search(own, name);
}

absl::Status ParameterStore::InitOne(ParameterKind kind, const std::string& name) {
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

absl::Status ParameterStore::InitNames(ParameterKind kind, absl::Span<const std::string> names) {
  for (const std::string& name : names) {
    COOPER_RETURN_IF_ERROR(InitOne(kind, name));
    COOPER_RETURN_IF_ERROR(Broadcast(kind, name));
    EntryOf(kind, name).initialized = true;
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::Init(const InitParamsOptions& options, const NetworkNames* network) {
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
    COOPER_RETURN_IF_ERROR(WithName(WeightChanged(name), "", name));
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

absl::Status ParameterStore::Set(const ArrayMap& args, const ArrayMap& auxs,
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
      const Entry* entry = Find(kind, name);
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
      const Entry* entry = Find(kind, name);
      if (entry == nullptr) {
        if (network != nullptr) continue;
        COOPER_ASSIGN_OR_RETURN(of(kind).waiting[name], array.Copy());
        continue;
      }
      absl::Status status = entry->values[0].CopyFrom(array);
      if (status.ok()) status = Broadcast(kind, name);
      if (status.ok() && kind == ParameterKind::kArg) status = WeightChanged(name);
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

absl::Status ParameterStore::CheckCanInit(ParameterKind kind,
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

absl::Status ParameterStore::Complete(absl::Span<const std::string> args,
                                      absl::Span<const std::string> auxs,
                                      const std::map<std::string, AttrMap>& attrs) {
  for (const auto& [name, of_name] : attrs) {
    if (Find(ParameterKind::kArg, name) != nullptr || Find(ParameterKind::kAux, name) != nullptr) {
      attrs_.emplace(name, of_name);
    }
  }
  const auto new_names = [this](ParameterKind kind, absl::Span<const std::string> names) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      const Entry* entry = Find(kind, name);
      if (entry != nullptr && !entry->initialized) found.push_back(name);
    }
    return found;
  };
  std::vector<std::string> new_args;
  std::vector<std::string> new_auxs;
  std::vector<std::string> stored;  // that another process has already trained
  if (initialized_) {
    for (std::string& name : new_names(ParameterKind::kArg, args)) {
      const bool is_stored = learning_.kvstore != nullptr && learning_.kvstore->contains(name);
      (is_stored ? stored : new_args).push_back(std::move(name));
    }
    new_auxs = new_names(ParameterKind::kAux, auxs);
  }
  for (const auto* names : {&new_args, &stored}) {
    if (learning_.kvstore == nullptr) break;
    COOPER_RETURN_IF_ERROR(learning_.kvstore->Claim(learning_.claim, *names));
  }
  COOPER_RETURN_IF_ERROR(CheckCanInit(ParameterKind::kArg, new_args));
  COOPER_RETURN_IF_ERROR(CheckCanInit(ParameterKind::kAux, new_auxs));
  if (updater() != nullptr) {
    COOPER_RETURN_IF_ERROR(updater()->optimizer().AddSymbolAttributes(attrs_));
  }
  if (share_values_) COOPER_RETURN_IF_ERROR(ShareValues(true));
  COOPER_RETURN_IF_ERROR(InitNames(ParameterKind::kArg, new_args));
  COOPER_RETURN_IF_ERROR(InitNames(ParameterKind::kAux, new_auxs));
  for (const std::string& name : stored) COOPER_RETURN_IF_ERROR(PullNew(name));
  return ApplyRestored();
}

absl::Status ParameterStore::PullNew(const std::string& name) {
  Entry& entry = EntryOf(ParameterKind::kArg, name);
  for (const NDArray& value : entry.values) {
    COOPER_RETURN_IF_ERROR(learning_.kvstore->Pull(name, {value}));
  }
  entry.initialized = true;
  of(ParameterKind::kArg).waiting.erase(name);
  return absl::OkStatus();
}

absl::Status ParameterStore::ApplyLoaded() {
  if (!loaded_.has_value()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(Set(loaded_->args, loaded_->auxs, {}));
  loaded_.reset();
  return absl::OkStatus();
}

}  // namespace cooper
