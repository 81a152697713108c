#include "module/optimizer/convert_states.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "io/batch/key_values.h"
#include "module/optimizer/saved_names.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The kinds whose master copy follows the state; of the others it comes first.
bool MasterIsLast(absl::string_view kind) {
  return kind == "sgd" || kind == "nag" || kind == "lars";
}

// The kinds that have a state for the momentum where MXNet has None for a momentum of 0.
bool HasZeroMomentum(absl::string_view kind) { return kind == "dcasgd" || kind == "lbsgd"; }

// Finds the name of each key of a file, and the keys that belong to the context.
class KeyNames {
 public:
  static absl::StatusOr<KeyNames> Create(const MxnetStates& states,
                                         const MxnetPositions& positions) {
    KeyNames names(positions);
    std::set<int64_t> used;
    for (const MxnetParameterState& state : states.parameters) {
      if (const auto* position = std::get_if<int64_t>(&state.key)) used.insert(*position);
    }
    if (used.empty()) return names;
    if (!states.optimizer.has_value()) {
      COOPER_RETURN_IF_ERROR(names.NumberOfModule(used));
    } else if (states.optimizer->names.empty()) {
      COOPER_RETURN_IF_ERROR(names.Number(positions.trainer, 1, used));
    } else {
      COOPER_RETURN_IF_ERROR(names.NumberByOptimizer(states.optimizer->names, used));
    }
    return names;
  }

  // Returns the name of a key; nothing for a position of another context.
  std::optional<std::string> NameOf(const MxnetKey& key) const {
    const auto* position = std::get_if<int64_t>(&key);
    if (position == nullptr) return std::get<std::string>(key);
    const auto it = names_.find(*position);
    return it == names_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  explicit KeyNames(const MxnetPositions& positions) : positions_(positions) {}

  // Returns the context of the file, of `num_contexts`, whose states are read.
  int64_t ContextOf(int64_t num_contexts) const {
    return num_contexts == positions_.num_contexts ? positions_.context : 0;
  }

  // Numbers `names`, each with `num_contexts` positions.
  absl::Status Number(const std::vector<std::string>& names, int64_t num_contexts,
                      const std::set<int64_t>& used) {
    for (const int64_t position : used) {
      const int64_t index = position / num_contexts;
      if (names.empty()) {
        names_[position] = absl::StrCat(position);
      } else if (index >= static_cast<int64_t>(names.size())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a state has position ", position, ", but there are ", names.size(), " parameters (",
            absl::StrJoin(names.begin(), names.begin() + std::min<size_t>(names.size(), 8), ", "),
            names.size() > 8 ? ", ..." : "", "): the file is of another network"));
      } else if (position % num_contexts == ContextOf(num_contexts)) {
        names_[position] = names[static_cast<size_t>(index)];
      }
    }
    return absl::OkStatus();
  }

  // Numbers the parameters of a Module. The file does not say how many contexts it is of: as many
  // as give each trained parameter a state on each of them.
  absl::Status NumberOfModule(const std::set<int64_t>& used) {
    const std::set<std::string> names(positions_.trained.begin(), positions_.trained.end());
    std::vector<int64_t> trained;
    for (size_t i = 0; i < positions_.module.size(); ++i) {
      if (names.contains(positions_.module[i])) {
        trained.push_back(static_cast<int64_t>(i));
      }
    }
    const auto num_used = static_cast<int64_t>(used.size());
    const auto num_trained = static_cast<int64_t>(trained.size());
    int64_t num_contexts = 1;
    if (num_trained > 0 && num_used % num_trained == 0) {
      const int64_t guess = num_used / num_trained;
      const bool fits = absl::c_all_of(trained, [&](int64_t index) {
        return used.contains(index * guess) && used.contains(index * guess + guess - 1);
      });
      if (fits) num_contexts = guess;
    }
    return Number(positions_.module, num_contexts, used);
  }

  // Takes the names that the optimizer of the file has: of several contexts, each name has several
  // positions.
  absl::Status NumberByOptimizer(const std::map<int64_t, std::string>& names,
                                 const std::set<int64_t>& used) {
    std::map<std::string, std::vector<int64_t>> by_name;
    for (const auto& [position, name] : names) by_name[name].push_back(position);
    for (const auto& [name, at] : by_name) {
      const int64_t position = at[static_cast<size_t>(ContextOf(static_cast<int64_t>(at.size())))];
      if (used.contains(position)) names_[position] = name;
    }
    for (const int64_t position : used) {
      if (names.contains(position)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("a state has position ", position, ", which the optimizer does not name"));
    }
    return absl::OkStatus();
  }

  const MxnetPositions& positions_;
  std::map<int64_t, std::string> names_;
};

// Returns the optimizer's state (Optimizer::SaveState) with the counts and the rate of the file.
absl::StatusOr<std::string> OptimizerText(const MxnetStates& states, const Optimizer& optimizer) {
  const std::string text = optimizer.SaveState();
  if (!states.optimizer.has_value()) return text;
  const MxnetOptimizer& saved = *states.optimizer;
  std::string kind = absl::AsciiStrToLower(saved.class_name);
  if (kind == "ccsgd") kind = "sgd";
  if (kind != optimizer.kind()) {
    return absl::InvalidArgumentError(absl::StrCat("the file is of optimizer ", saved.class_name,
                                                   ", this one is ", optimizer.kind()));
  }
  COOPER_ASSIGN_OR_RETURN(KeyValues values, KeyValues::Parse(text));
  values.SetInt("num_update", saved.num_update);
  if (saved.learning_rate.has_value()) values.SetDouble("learning_rate", *saved.learning_rate);
  if (kind == "nadam" && saved.m_schedule) values.SetDouble("schedule", *saved.m_schedule);
  if (kind == "lars" && saved.cur_lr.has_value()) {
    values.SetDouble("last_rate", *saved.cur_lr);
    values.SetDouble("rate", *saved.cur_lr);
    values.SetInt("rate_at", saved.num_update);
  }
  return values.ToString();
}

// Converts the arrays of one parameter.
class ArrayConverter {
 public:
  ArrayConverter(const Optimizer& optimizer, const std::string& name, const ArrayMap& weights)
      : optimizer_(optimizer), name_(name), weight_(FindArray(weights, name)) {}

  // Appends the arrays to `states` under the names of Updater::GetStates.
  absl::Status Convert(const std::vector<ParamsEntry>& arrays, NamedArrays* states) const {
    std::vector<const ParamsEntry*> entries;
    for (const ParamsEntry& entry : arrays) {
      if (!entry.array.is_null() || HasZeroMomentum(optimizer_.kind())) entries.push_back(&entry);
    }
    const std::vector<std::string>& names = optimizer_.state_names();
    const bool master =
        weight_.is_null() ? entries.size() == names.size() + 1 : optimizer_.UsesMaster(weight_);
    if (entries.size() != names.size() + (master ? 1 : 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its state has ", entries.size(), " arrays, that of this optimizer, ",
                       optimizer_.kind(), ", has ", names.size(),
                       names.empty() ? "" : absl::StrCat(" (", absl::StrJoin(names, ", "), ")"),
                       master ? " and a float32 copy" : "",
                       ": are momentum and multi_precision those of the file?"));
    }
    size_t next = master && !MasterIsLast(optimizer_.kind()) ? 1 : 0;
    if (master) {
      const ParamsEntry& entry = *(next == 1 ? entries.front() : entries.back());
      COOPER_RETURN_IF_ERROR(Append(kSavedMaster, entry, states));
    }
    for (const std::string& state_name : names) {
      COOPER_RETURN_IF_ERROR(Append(state_name, *entries[next++], states));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Append(absl::string_view what, const ParamsEntry& entry, NamedArrays* states) const {
    COOPER_ASSIGN_OR_RETURN(NDArray array, Dense(entry));
    states->emplace_back(absl::StrCat(name_, ":", what), std::move(array));
    return absl::OkStatus();
  }

  absl::StatusOr<NDArray> Dense(const ParamsEntry& entry) const {
    if (entry.sparse == nullptr && !entry.array.is_null()) return entry.array;
    // A small file may describe a huge sparse array: only the weight tells that its shape is true.
    if (weight_.is_null()) {
      return absl::UnimplementedError(
          absl::StrCat("its state is ", entry.sparse == nullptr ? "None" : "sparse",
                       ", which is read for parameters that are bound only"));
    }
    if (entry.sparse == nullptr) {
      const bool master = optimizer_.UsesMaster(weight_);
      return NDArray::Zeros(weight_.shape(), master ? DType::kFloat32 : weight_.dtype());
    }
    if (entry.sparse->shape != weight_.shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("its state has the shape ", entry.sparse->shape.ToString(),
                       ", the parameter ", weight_.shape().ToString()));
    }
    return ToDense(entry);
  }

  const Optimizer& optimizer_;
  const std::string& name_;
  const NDArray weight_;
};

}  // namespace

absl::StatusOr<NamedArrays> ConvertMxnetStates(
    const MxnetStates& states, const Optimizer& optimizer, const MxnetPositions& positions,
    const ArrayMap& weights, const std::function<int64_t(const std::string& name)>& count_of) {
  NamedArrays converted;
  COOPER_ASSIGN_OR_RETURN(const std::string text, OptimizerText(states, optimizer));
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  COOPER_ASSIGN_OR_RETURN(
      NDArray optimizer_state,
      NDArray::FromVector<uint8_t>({static_cast<int64_t>(bytes.size())}, bytes));
  converted.emplace_back(kSavedOptimizer, std::move(optimizer_state));
  COOPER_ASSIGN_OR_RETURN(const KeyNames names, KeyNames::Create(states, positions));
  for (const MxnetParameterState& state : states.parameters) {
    const std::optional<std::string> name = names.NameOf(state.key);
    if (!name.has_value()) continue;
    COOPER_RETURN_IF_ERROR(
        AddContext(ArrayConverter(optimizer, *name, weights).Convert(state.arrays, &converted),
                   "parameter '", *name, "'"));
    int64_t count = 0;
    if (!states.optimizer.has_value()) {
      count = count_of(*name);
    } else {
      const auto it = states.optimizer->counts.find(state.key);
      count = it == states.optimizer->counts.end() ? optimizer.begin_num_update() : it->second;
    }
    COOPER_ASSIGN_OR_RETURN(NDArray updates, NDArray::FromVector<int64_t>({1}, {count}));
    converted.emplace_back(absl::StrCat(*name, ":", kSavedNumUpdates), std::move(updates));
  }
  return converted;
}

}  // namespace cooper
