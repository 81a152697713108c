#include "module/parameters/parameters.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Smaller arrays are copied quickly.
constexpr int64_t kMinShared = 16384;

}  // namespace

struct Parameters::Rollback::Saved {
  std::array<Entries, 3> kinds;
  std::map<std::string, AttrMap> attrs;
  std::vector<std::string> arg_order;
};

Parameters::Rollback::Rollback(Parameters& parameters)
    : parameters_(parameters),
      saved_(new Saved{.kinds = parameters.kinds_,
                       .attrs = parameters.attrs_,
                       .arg_order = parameters.arg_order_}) {}

Parameters::Rollback::~Rollback() {
  if (saved_ == nullptr) return;
  parameters_.kinds_ = std::move(saved_->kinds);
  parameters_.attrs_ = std::move(saved_->attrs);
  parameters_.arg_order_ = std::move(saved_->arg_order);
  ++parameters_.generation_;
}

void Parameters::Rollback::Commit() { saved_ = nullptr; }

Parameters::Parameters(const std::vector<Context>& contexts) : contexts_(contexts) {
  CHECK(!contexts.empty()) << "parameters are on at least one context";
}

const ParameterArrays* Parameters::Find(ParameterKind kind, const std::string& name) const {
  const auto it = of(kind).by_name.find(name);
  return it == of(kind).by_name.end() ? nullptr : &it->second;
}

ParameterArrays& Parameters::EntryOf(ParameterKind kind, const std::string& name) {
  const auto it = of(kind).by_name.find(name);
  CHECK(it != of(kind).by_name.end()) << "parameter '" << name << "' has no array";
  return it->second;
}

std::vector<std::string> Parameters::Names(ParameterKind kind) const {
  std::vector<std::string> names;
  names.reserve(of(kind).by_name.size());
  for (const auto& [name, entry] : of(kind).by_name) names.push_back(name);
  return names;
}

void Parameters::AddToOrder(absl::Span<const std::string> args) {
  const std::set<std::string> known(arg_order_.begin(), arg_order_.end());
  for (const std::string& name : args) {
    if (!known.contains(name)) arg_order_.push_back(name);
  }
}

int64_t Parameters::num_elements() const {
  int64_t elements = 0;
  for (const auto& [name, entry] : of(ParameterKind::kArg).by_name) {
    elements += entry.values[0].size();
  }
  return elements;
}

NDArray Parameters::Value(ParameterKind kind, const std::string& name, int context) const {
  const ParameterArrays* entry = Find(kind, name);
  return entry == nullptr ? NDArray() : entry->values[context];
}

NDArray Parameters::Grad(const std::string& name, int context) const {
  const ParameterArrays* entry = Find(ParameterKind::kArg, name);
  return entry == nullptr ? NDArray() : entry->grads[context];
}

absl::StatusOr<NDArray> Parameters::Mean(ParameterKind kind, const std::string& name) const {
  const ParameterArrays* entry = Find(kind, name);
  if (entry == nullptr) {
    return absl::NotFoundError(absl::StrCat("parameter '", name, "' is not bound"));
  }
  const std::vector<NDArray>& copies = entry->values;
  if (copies.size() == 1) return copies[0].CopyTo(Context::Cpu());
  COOPER_ASSIGN_OR_RETURN(NDArray mean, NDArray::Empty(copies[0].shape(), copies[0].dtype()));
  COOPER_RETURN_IF_ERROR(MeanOfArrays(copies, mean));
  return mean;
}

absl::StatusOr<ModuleParams> Parameters::Means(absl::Span<const std::string> args,
                                               absl::Span<const std::string> auxs) const {
  ModuleParams means{.format = format_};
  for (const std::string& name : args) {
    COOPER_ASSIGN_OR_RETURN(means.args[name], Mean(ParameterKind::kArg, name));
  }
  for (const std::string& name : auxs) {
    COOPER_ASSIGN_OR_RETURN(means.auxs[name], Mean(ParameterKind::kAux, name));
  }
  return means;
}

void Parameters::SetHooks(ParameterHooks hooks) {
  CHECK(!hooks.value_set || !hooks_.value_set) << "the parameters have a Learner";
  hooks_ = std::move(hooks);
}

absl::Status Parameters::Allocate(ParameterKind kind, const std::string& name, int context,
                                  const ArraySpec& spec) {
  const auto found = of(kind).by_name.find(name);
  if (found != of(kind).by_name.end() && !found->second.values[context].is_null()) {
    ParameterArrays& bound = found->second;
    if (!spec.is_written || bound.is_written) return absl::OkStatus();
    bound.is_written = true;
    return Separate(bound);
  }
  COOPER_ASSIGN_OR_RETURN(
      NDArray array,
      AddContext(NDArray::Zeros(spec.shape, spec.dtype, spec.context), "parameter '", name, "'"));
  ParameterArrays& entry = of(kind).by_name[name];
  entry.values.resize(contexts_.size());
  entry.grads.resize(contexts_.size());
  entry.values[context] = std::move(array);
  entry.is_written = entry.is_written || spec.is_written;
  return absl::OkStatus();
}

absl::Status Parameters::Separate(ParameterArrays& entry) {
  for (size_t i = 1; i < entry.values.size(); ++i) {
    NDArray& array = entry.values[i];
    if (array.is_null() || array.raw_data() != entry.values[0].raw_data()) continue;
    COOPER_ASSIGN_OR_RETURN(array, array.Copy());
    ++generation_;
  }
  return absl::OkStatus();
}

absl::Status Parameters::AllocateGrad(const std::string& name, int context) {
  ParameterArrays& entry = EntryOf(ParameterKind::kArg, name);
  if (!entry.grads[context].is_null()) return absl::OkStatus();
  const NDArray& value = entry.values[context];
  COOPER_ASSIGN_OR_RETURN(entry.grads[context],
                          AddContext(NDArray::Zeros(value.shape(), value.dtype(), value.context()),
                                     "gradient of parameter '", name, "'"));
  auto& restored = of(ParameterKind::kArg).restored_grads;
  const auto waiting = restored.find(name);
  if (waiting == restored.end() || waiting->second[context].is_null()) return absl::OkStatus();
  return AddContext(entry.grads[context].CopyFrom(std::exchange(waiting->second[context], {})),
                    "gradient of parameter '", name, "'");
}

void Parameters::DropUninitialized(absl::Span<const std::string> args,
                                   absl::Span<const std::string> auxs) {
  const auto drop = [this](ParameterKind kind, absl::Span<const std::string> names) {
    for (const std::string& name : names) {
      const ParameterArrays* entry = Find(kind, name);
      if (entry == nullptr || (initialized_ && entry->initialized)) continue;
      of(kind).by_name.erase(name);
    }
  };
  drop(ParameterKind::kArg, args);
  drop(ParameterKind::kAux, auxs);
}

void Parameters::DropArrays() {
  of(ParameterKind::kArg).by_name.clear();
  of(ParameterKind::kAux).by_name.clear();
}

void Parameters::DropStates(absl::Span<const std::string> names) {
  for (const std::string& name : names) of(ParameterKind::kState).by_name.erase(name);
}

absl::Status Parameters::ZeroGrads() {
  for (const auto& [name, entry] : of(ParameterKind::kArg).by_name) {
    for (const NDArray& grad : entry.grads) {
      if (!grad.is_null()) COOPER_RETURN_IF_ERROR(grad.Fill(0));
    }
  }
  of(ParameterKind::kArg).restored_grads.clear();
  return absl::OkStatus();
}

absl::Status Parameters::Broadcast(ParameterKind kind, const std::string& name) {
  const std::vector<NDArray>& values = EntryOf(kind, name).values;
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i].raw_data() != values[0].raw_data()) {
      COOPER_RETURN_IF_ERROR(values[i].CopyFrom(values[0]));
    }
  }
  return absl::OkStatus();
}

absl::Status Parameters::Publish(ParameterKind kind, const std::string& name) {
  COOPER_RETURN_IF_ERROR(Broadcast(kind, name));
  if (kind != ParameterKind::kArg || !hooks_.value_set) return absl::OkStatus();
  return hooks_.value_set(name);
}

absl::Status Parameters::Average(ParameterKind kind, const std::string& name) {
  COOPER_ASSIGN_OR_RETURN(const NDArray mean, Mean(kind, name));
  COOPER_RETURN_IF_ERROR(Value(kind, name).CopyFrom(mean));
  return Publish(kind, name);
}

absl::Status Parameters::ShareValues(bool share) {
  share_values_ = share;
  for (size_t i = 1; i < contexts_.size(); ++i) {
    if (!SharesMemory(contexts_[i], contexts_[0])) continue;
    for (auto& [name, entry] : of(ParameterKind::kArg).by_name) {
      const NDArray& shared = entry.values[0];
      NDArray& array = entry.values[i];
      // Contexts do not share what a kernel writes.
      if (share && (entry.is_written || shared.size() < kMinShared)) continue;
      const bool is_shared = array.raw_data() == shared.raw_data();
      if (is_shared == share || !SharesMemory(array.context(), shared.context())) continue;
      if (share) {
        array = shared;
      } else {
        COOPER_ASSIGN_OR_RETURN(array, shared.Copy());
      }
      ++generation_;
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
