#include "module/training_state.h"

#include <algorithm>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "ndarray/params_file.h"
#include "ndarray/status_macros.h"
#include "zlib.h"

namespace cooper {
namespace {

constexpr char kVersionName[] = "cooper:training_state";
constexpr int64_t kVersion = 2;
constexpr int64_t kFirstVersion = 1;
constexpr char kChecksumName[] = "cooper:crc32";

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

// Takes an entry that a context has, the first one's or another's. False if it is none.
template <typename State>
bool TakeArray(absl::string_view name, const NDArray& array, State* state) {
  const std::pair<const char*, ArrayMap*> maps[] = {
      {"arg:", &state->args}, {"aux:", &state->auxs}, {"state:", &state->states}};
  for (const auto& [prefix, map] : maps) {
    if (!absl::ConsumePrefix(&name, prefix)) continue;
    (*map)[std::string(name.data(), name.size())] = array;
    return true;
  }
  if (!absl::ConsumePrefix(&name, "opt:")) return false;
  state->optimizer.emplace_back(std::string(name.data(), name.size()), array);
  return true;
}

absl::StatusOr<std::string> ToText(const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, array.Data<uint8_t>());
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::Status TakeBuckets(const std::string& text, std::vector<BucketKey>* buckets) {
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    COOPER_ASSIGN_OR_RETURN(buckets->emplace_back(), BucketKey::Parse(line));
  }
  return absl::OkStatus();
}

// "replica:1:aux:NAME"
absl::Status TakeReplica(absl::string_view name, const NDArray& array, TrainingState* state) {
  const size_t colon = name.find(':');
  int index = 0;
  if (colon != absl::string_view::npos && absl::SimpleAtoi(name.substr(0, colon), &index) &&
      index > 0 && TakeArray(name.substr(colon + 1), array, &state->replicas[index])) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown entry 'replica:", name, "'"));
}

// Takes one entry of the file into `state`.
absl::Status Take(const std::string& name, const NDArray& array, TrainingState* state) {
  if (TakeArray(name, array, state)) return absl::OkStatus();
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "replica:")) return TakeReplica(rest, array, state);
  if (absl::ConsumePrefix(&rest, "kvstore:")) {
    state->kvstore.emplace_back(std::string(rest.data(), rest.size()), array);
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&rest, "text:")) {
    COOPER_ASSIGN_OR_RETURN(std::string text, ToText(array));
    if (rest == "buckets") return TakeBuckets(text, &state->buckets);
    if (rest == "iterator" || rest == "metric") {
      (rest == "iterator" ? state->iterator : state->metric) = std::move(text);
      return absl::OkStatus();
    }
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

void AddState(const std::string& prefix, const ReplicaState& state, NamedArrays* list) {
  AddAll((prefix + "arg:").c_str(), state.args, list);
  AddAll((prefix + "aux:").c_str(), state.auxs, list);
  AddAll((prefix + "state:").c_str(), state.states, list);
  for (const auto& [name, array] : state.optimizer) {
    list->emplace_back(absl::StrCat(prefix, "opt:", name), array);
  }
}

uint32_t ChecksumOf(absl::Span<const std::pair<std::string, NDArray>> list) {
  uLong crc = crc32_z(0, nullptr, 0);
  auto add = [&crc](const void* data, size_t bytes) {
    if (bytes > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), bytes);
  };
  for (const auto& [name, array] : list) {
    const std::string dtype = DTypeName(array.dtype());
    add(name.c_str(), name.size() + 1);
    add(dtype.c_str(), dtype.size() + 1);
    add(array.shape().dims().data(), array.shape().rank() * sizeof(int64_t));
    add(array.raw_data(), static_cast<size_t>(array.size_bytes()));
  }
  return static_cast<uint32_t>(crc);
}

// The list without its checksum, which has to be the last entry and right.
absl::Status CheckChecksum(NamedArrays* list) {
  if (list->back().first != kChecksumName) {
    return absl::InvalidArgumentError("the checksum is missing: the file was cut off");
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> saved,
                          list->back().second.ToVector<int64_t>());
  list->pop_back();
  const uint32_t computed = ChecksumOf(*list);
  if (saved.size() == 1 && saved[0] == computed) return absl::OkStatus();
  return absl::InvalidArgumentError("the checksum is wrong: the file is damaged");
}

using NamedStates = std::vector<std::pair<std::string, NDArray>>;

// Of `states`, which stay the updater's, copies in CPU memory.
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

// The contexts after the first.
absl::Status CaptureReplicas(const ModuleGroup& group, TrainingState* state) {
  for (size_t i = 1; i < group.replicas.size(); ++i) {
    const ModuleReplica& replica = group.replicas[i];
    ReplicaState& copy = state->replicas[static_cast<int>(i)];
    COOPER_RETURN_IF_ERROR(CopyAll(replica.auxs, &copy.auxs));
    COOPER_RETURN_IF_ERROR(CopyAll(replica.states, &copy.states));
    if (group.kvstore != nullptr) continue;
    COOPER_RETURN_IF_ERROR(CopyAll(replica.args, &copy.args));
    if (replica.updater != nullptr) {
      COOPER_RETURN_IF_ERROR(CopyOptimizer(*replica.updater, &copy.optimizer));
    }
  }
  return absl::OkStatus();
}

// Arrays that are there get the saved values.
absl::Status PutBack(const ArrayMap& saved, const ArrayMap& arrays) {
  for (const auto& [name, array] : saved) {
    const auto it = arrays.find(name);
    if (it != arrays.end()) COOPER_RETURN_IF_ERROR(it->second.CopyFrom(array));
  }
  return absl::OkStatus();
}

// Those that are not there yet wait for their bucket.
void Wait(const ArrayMap& saved, const ArrayMap& arrays, ArrayMap* waiting) {
  for (const auto& [name, array] : saved) {
    if (!arrays.contains(name)) (*waiting)[name] = array;
  }
}

absl::Status RestoreReplicas(const TrainingState& state, ModuleGroup& group) {
  for (const auto& [index, saved] : state.replicas) {
    if (index >= static_cast<int>(group.replicas.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("RestoreTraining: the state is that of more contexts than the module's ",
                       group.replicas.size()));
    }
    ModuleReplica& replica = group.replicas[index];
    COOPER_RETURN_IF_ERROR(PutBack(saved.args, replica.args));
    COOPER_RETURN_IF_ERROR(PutBack(saved.auxs, replica.auxs));
    COOPER_RETURN_IF_ERROR(PutBack(saved.states, replica.states));
    Wait(saved.args, replica.args, &replica.waiting_args);
    Wait(saved.auxs, replica.auxs, &replica.waiting_auxs);
    for (const auto& [name, array] : saved.states) {
      if (replica.states.contains(name)) continue;
      COOPER_ASSIGN_OR_RETURN(replica.states[name], array.CopyTo(replica.arena->context()));
    }
  }
  if (group.update_on_kvstore) return absl::OkStatus();
  for (size_t i = 1; i < group.replicas.size(); ++i) {
    if (group.replicas[i].updater == nullptr) continue;
    const auto saved = state.replicas.find(static_cast<int>(i));
    const bool own = saved != state.replicas.end() && !saved->second.optimizer.empty();
    COOPER_RETURN_IF_ERROR(
        group.replicas[i].updater->SetStates(own ? saved->second.optimizer : state.optimizer));
  }
  return absl::OkStatus();
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
    COOPER_RETURN_IF_ERROR(CopyOptimizer(*group.updater(), &state.optimizer));
  }
  COOPER_RETURN_IF_ERROR(CaptureReplicas(group, &state));
  if (group.kvstore != nullptr) {
    COOPER_ASSIGN_OR_RETURN(const NamedStates kvstore, group.kvstore->GetState());
    COOPER_RETURN_IF_ERROR(CopyList(kvstore, &state.kvstore));
    // Parameters that only other processes have bound so far.
    for (const std::string& key : group.kvstore->keys()) {
      if (group.first().args.contains(key)) continue;
      COOPER_ASSIGN_OR_RETURN(state.args[key], group.kvstore->Get(key));
    }
  }
  state.buckets.assign(group.buckets.begin(), group.buckets.end());
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
  COOPER_RETURN_IF_ERROR(RestoreReplicas(state, group));
  if (group.kvstore != nullptr) COOPER_RETURN_IF_ERROR(group.kvstore->SetState(state.kvstore));
  group.buckets.insert(state.buckets.begin(), state.buckets.end());
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
  AddState("", {state.args, state.auxs, state.states, state.optimizer}, &list);
  for (const auto& [index, replica] : state.replicas) {
    AddState(absl::StrCat("replica:", index, ":"), replica, &list);
  }
  for (const auto& [name, array] : state.kvstore) list.emplace_back("kvstore:" + name, array);
  std::string keys;
  for (const BucketKey& key : state.buckets) absl::StrAppend(&keys, key.ToString(), "\n");
  COOPER_ASSIGN_OR_RETURN(NDArray buckets, FromText(keys));
  list.emplace_back("text:buckets", std::move(buckets));
  COOPER_ASSIGN_OR_RETURN(NDArray iterator, FromText(state.iterator));
  list.emplace_back("text:iterator", std::move(iterator));
  COOPER_ASSIGN_OR_RETURN(NDArray metric, FromText(state.metric));
  list.emplace_back("text:metric", std::move(metric));
  COOPER_ASSIGN_OR_RETURN(NDArray position, FromInts({state.epoch, state.nbatch,
                                                      static_cast<int64_t>(state.random.seed),
                                                      static_cast<int64_t>(state.random.runs)}));
  list.emplace_back("position", std::move(position));
  COOPER_ASSIGN_OR_RETURN(NDArray checksum, FromInts({ChecksumOf(list)}));
  list.emplace_back(kChecksumName, std::move(checksum));
  return SaveNamedArrays(path, list);
}

absl::StatusOr<TrainingState> LoadTrainingState(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(NamedArrays list, LoadNamedArrays(path));
  if (list.empty() || list[0].first != kVersionName) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no training state"));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> version, list[0].second.ToVector<int64_t>());
  if (version.size() != 1 || version[0] < kFirstVersion || version[0] > kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": training state of version ",
                                                   version.empty() ? 0 : version[0], ", expected ",
                                                   kFirstVersion, " to ", kVersion));
  }
  if (version[0] > kFirstVersion) {
    const absl::Status status = CheckChecksum(&list);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
    }
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
