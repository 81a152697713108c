#include "module/checkpoint/training_state.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "module/devices/module_group.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "zlib.h"

namespace cooper {
namespace {

constexpr char kVersionName[] = "cooper:training_state";
constexpr int64_t kVersion = 4;
constexpr int64_t kFirstVersion = 1;
constexpr char kChecksumName[] = "cooper:crc32";

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

// Adds an array to the state of one context. Returns false if `name` is none of such a state.
bool ExtractArray(absl::string_view name, const NDArray& array, ReplicaState* state) {
  const std::pair<const char*, ArrayMap*> maps[] = {{"arg:", &state->args},
                                                    {"aux:", &state->auxs},
                                                    {"state:", &state->states},
                                                    {"grad:", &state->grads}};
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

// Adds an entry such as "replica:1:aux:NAME", whose name comes without "replica:", to `state`.
absl::Status TakeReplica(absl::string_view name, const NDArray& array, TrainingState* state) {
  const size_t colon = name.find(':');
  int index = 0;
  if (colon != absl::string_view::npos && absl::SimpleAtoi(name.substr(0, colon), &index) &&
      index > 0 && ExtractArray(name.substr(colon + 1), array, &state->replicas[index])) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown entry 'replica:", name, "'"));
}

// Adds an entry such as "callback:early_stopping:best", whose name comes without "callback:", to
// `state`.
absl::Status TakeCallback(absl::string_view name, const NDArray& array, TrainingState* state) {
  const size_t colon = name.find(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("unknown entry 'callback:", name, "'"));
  }
  state->callbacks[std::string(name.substr(0, colon))][std::string(name.substr(colon + 1))] = array;
  return absl::OkStatus();
}

// Adds one entry of the file to `state`.
absl::Status Take(const std::string& name, const NDArray& array, TrainingState* state) {
  if (ExtractArray(name, array, state)) return absl::OkStatus();
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "replica:")) return TakeReplica(rest, array, state);
  if (absl::ConsumePrefix(&rest, "callback:")) return TakeCallback(rest, array, state);
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
  if (name == "updates") {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<int64_t> values, array.Data<int64_t>());
    if (values.size() != 1 || values[0] < 0) {
      return absl::InvalidArgumentError("'updates' is no number of updates");
    }
    state->updates = values[0];
    return absl::OkStatus();
  }
  if (name == "score") {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<double> values, array.Data<double>());
    if (values.size() != 1) return absl::InvalidArgumentError("'score' is no score");
    state->score = values[0];
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown entry '", name, "'"));
}

void AddState(const std::string& prefix, const ReplicaState& state, NamedArrays* list) {
  AddAll((prefix + "arg:").c_str(), state.args, list);
  AddAll((prefix + "aux:").c_str(), state.auxs, list);
  AddAll((prefix + "state:").c_str(), state.states, list);
  AddAll((prefix + "grad:").c_str(), state.grads, list);
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

// Checks that the last entry is the checksum and that it is correct, and removes it from the list.
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

absl::StatusOr<ModuleGroup*> GroupOf(const BaseModule& module, const char* call) {
  if (module.group() != nullptr) return module.group().get();
  return absl::UnimplementedError(
      absl::StrCat(call,
                   ": a module of this kind has no parameters of its own; take the states of "
                   "the modules it is made of"));
}

}  // namespace

absl::StatusOr<TrainingState> CaptureTraining(const TrainingRun& run, int epoch, int64_t nbatch) {
  COOPER_ASSIGN_OR_RETURN(const ModuleGroup* group, GroupOf(*run.module, "CaptureTraining"));
  TrainingState state;
  COOPER_ASSIGN_OR_RETURN(static_cast<SavedParameters&>(state), group->learner().Capture());
  state.epoch = epoch;
  state.nbatch = nbatch;
  state.buckets.assign(group->buckets().begin(), group->buckets().end());
  state.random = group->devices().random_position();
  COOPER_ASSIGN_OR_RETURN(state.iterator, run.iter->SaveState());
  if (run.metric != nullptr) state.metric = run.metric->SaveState();
  for (const auto& [name, callback] : run.callbacks) {
    if (absl::StrContains(name, ':')) {
      return absl::InvalidArgumentError(
          absl::StrCat("CaptureTraining: callback '", name, "': a name must not contain ':'"));
    }
    COOPER_ASSIGN_OR_RETURN(state.callbacks[name], callback->SaveState());
  }
  return state;
}

absl::Status RestoreTraining(const TrainingState& state, const TrainingRun& run,
                             const InitOptimizerOptions& optimizer,
                             const InitParamsOptions& params) {
  BaseModule& module = *run.module;
  COOPER_ASSIGN_OR_RETURN(ModuleGroup * group, GroupOf(module, "RestoreTraining"));
  COOPER_RETURN_IF_ERROR(group->parameters().CheckHasAll(state));
  // The module keeps given parameters of buckets that are not bound yet. Parameters that no bucket
  // had when the state was captured come from the initializer, as in the uninterrupted run.
  COOPER_RETURN_IF_ERROR(module.InitParams({.initializer = params.initializer,
                                            .seed = params.seed,
                                            .arg_params = state.args,
                                            .aux_params = state.auxs,
                                            .allow_missing = true,
                                            .force_init = true}));
  COOPER_RETURN_IF_ERROR(module.InitOptimizer(optimizer));
  COOPER_RETURN_IF_ERROR(group->learner().Restore(state));
  for (const BucketKey& key : state.buckets) group->AddBucket(key);
  group->devices().SetRandomPosition(state.random);
  COOPER_RETURN_IF_ERROR(run.iter->LoadState(state.iterator));
  if (run.metric != nullptr && !state.metric.empty()) {
    COOPER_RETURN_IF_ERROR(run.metric->LoadState(state.metric));
  }
  for (const auto& [name, callback] : run.callbacks) {
    const auto saved = state.callbacks.find(name);
    if (saved == state.callbacks.end()) continue;
    COOPER_RETURN_IF_ERROR(AddContext(callback->LoadState(saved->second), "callback '", name, "'"));
  }
  return absl::OkStatus();
}

absl::Status SaveTrainingState(const std::string& path, const TrainingState& state) {
  NamedArrays list;
  COOPER_ASSIGN_OR_RETURN(NDArray version, FromInts({kVersion}));
  list.emplace_back(kVersionName, std::move(version));
  AddState("", state, &list);
  for (const auto& [index, replica] : state.replicas) {
    AddState(absl::StrCat("replica:", index, ":"), replica, &list);
  }
  for (const auto& [name, array] : state.kvstore) list.emplace_back("kvstore:" + name, array);
  for (const auto& [name, arrays] : state.callbacks) {
    AddAll(absl::StrCat("callback:", name, ":").c_str(), arrays, &list);
  }
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
  if (state.updates.has_value()) {
    COOPER_ASSIGN_OR_RETURN(NDArray updates, FromInts({*state.updates}));
    list.emplace_back("updates", std::move(updates));
  }
  if (state.score.has_value()) {
    COOPER_ASSIGN_OR_RETURN(NDArray score, NDArray::FromVector<double>({1}, {*state.score}));
    list.emplace_back("score", std::move(score));
  }
  COOPER_ASSIGN_OR_RETURN(NDArray checksum, FromInts({ChecksumOf(list)}));
  list.emplace_back(kChecksumName, std::move(checksum));
  return SaveNamedArrays(path, list);
}

absl::StatusOr<TrainingState> LoadTrainingState(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(NamedArrays list, LoadNamedArrays(path));
  if (list.empty() || list[0].first != kVersionName) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no training state",
                     list.empty() ? ", but an empty list"
                                  : absl::StrCat(", its first array is '", list[0].first,
                                                 "': parameters (.params) and optimizer states "
                                                 "(.states) are files of their own")));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> version, list[0].second.ToVector<int64_t>());
  if (version.size() != 1 || version[0] < kFirstVersion || version[0] > kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": training state of version ",
                                                   version.empty() ? 0 : version[0], ", expected ",
                                                   kFirstVersion, " to ", kVersion));
  }
  if (version[0] > kFirstVersion) {
    COOPER_RETURN_IF_ERROR(AddContext(CheckChecksum(&list), path));
  }
  TrainingState state;
  bool have_position = false;
  for (size_t i = 1; i < list.size(); ++i) {
    COOPER_RETURN_IF_ERROR(AddContext(Take(list[i].first, list[i].second, &state), path));
    have_position = have_position || list[i].first == "position";
  }
  if (!have_position) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the entry 'position' is missing"));
  }
  return state;
}

}  // namespace cooper
