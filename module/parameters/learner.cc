#include "module/parameters/learner.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/kvstore/queued_copies.h"
#include "module/parameters/gradient_norm.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

Learner::Learner(Parameters& parameters) : parameters_(parameters) {
  parameters_.SetHooks(
      {.value_set = [this](const std::string& name) { return ValueSet(name); },
       .find_values = [this](const std::vector<std::string>& names) { return FindValues(names); },
       .fill = [this](const std::vector<std::string>& names) { return Fill(names); }});
}

Learner::~Learner() { parameters_.SetHooks({}); }

const ParameterArrays& Learner::ArraysOf(const std::string& name) const {
  const ParameterArrays* const arrays = parameters_.Find(ParameterKind::kArg, name);
  CHECK(arrays != nullptr) << "parameter '" << name << "' has no array";
  return *arrays;
}

std::shared_ptr<Updater> Learner::updater() const {
  if (setup_.update_on_kvstore) return setup_.store_updater;
  return setup_.updaters.empty() ? nullptr : setup_.updaters[0];
}

absl::Status Learner::PrepareKVStore() {
  KVStore& kvstore = *setup_.kvstore;
  return kvstore.updater() == setup_.store_updater ? absl::OkStatus()
                                                   : kvstore.SetUpdater(setup_.store_updater);
}

absl::Status Learner::ValueSet(const std::string& name) const {
  const std::vector<NDArray>& values = ArraysOf(name).values;
  if (setup_.kvstore != nullptr && setup_.kvstore->contains(name)) {
    COOPER_RETURN_IF_ERROR(setup_.kvstore->Set(name, values[0]));
  }
  if (setup_.update_on_kvstore) return updater()->WeightChanged(name, values[0]);
  for (size_t i = 0; i < setup_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(setup_.updaters[i]->WeightChanged(name, values[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Learner::FindValues(
    const std::vector<std::string>& names) const {
  std::vector<std::string> stored;
  if (setup_.kvstore != nullptr) {
    COOPER_RETURN_IF_ERROR(setup_.kvstore->Claim(setup_.claim, names));
    for (const std::string& name : names) {
      if (setup_.kvstore->contains(name)) stored.push_back(name);
    }
  }
  return stored;
}

absl::Status Learner::Fill(const std::vector<std::string>& names) const {
  if (updater() != nullptr) {
    COOPER_RETURN_IF_ERROR(updater()->optimizer().AddSymbolAttributes(parameters_.attrs()));
  }
  for (const std::string& name : names) {
    COOPER_RETURN_IF_ERROR(setup_.kvstore->Pull(name, ArraysOf(name).values));
  }
  return absl::OkStatus();
}

absl::Status Learner::ZeroGrads() {
  COOPER_RETURN_IF_ERROR(parameters_.ZeroGrads());
  gradient_record_.Clear();
  return absl::OkStatus();
}

absl::Status Learner::AverageContexts() {
  if (parameters_.num_contexts() == 1) return absl::OkStatus();
  for (const auto& [name, arrays] : parameters_.all(ParameterKind::kAux)) {
    COOPER_RETURN_IF_ERROR(parameters_.Average(ParameterKind::kAux, name));
  }
  if (setup_.kvstore != nullptr) return absl::OkStatus();
  for (const auto& [name, arrays] : parameters_.all(ParameterKind::kArg)) {
    if (arrays.grads[0].is_null()) continue;  // a fixed parameter
    COOPER_RETURN_IF_ERROR(parameters_.Average(ParameterKind::kArg, name));
  }
  return absl::OkStatus();
}

KVItem Learner::ItemFor(const std::string& name) const {
  const ParameterArrays& entry = ArraysOf(name);
  return {.key = name,
          .weights = entry.values,
          .grads = entry.grads,
          .outs = setup_.update_on_kvstore ? entry.values : entry.grads};
}

// Scales the optimizer's rescale_grad for one update, so that the norm of a context's gradients
// stays within the limit. Scaling the factor costs no pass over the gradients.
class Learner::ScopedClip {
 public:
  ScopedClip(Learner& learner, size_t context, absl::Span<const std::string> names) {
    const double limit = learner.setup_.clip_global_norm;
    if (limit <= 0) return;
    learner.clipped_.clear();
    for (const std::string& name : names) {
      learner.clipped_.push_back(learner.ArraysOf(name).grads[context]);
    }
    const absl::StatusOr<double> norm = GlobalNorm(learner.clipped_, &learner.norm_blocks_);
    status_ = norm.status();
    if (!status_.ok()) return;
    optimizer_ = &learner.setup_.updaters[context]->optimizer();
    before_ = optimizer_->rescale_grad();
    const double rescaled = *norm * std::abs(before_);
    if (rescaled > limit) optimizer_->set_rescale_grad(before_ * limit / rescaled);
  }
  ~ScopedClip() {
    if (optimizer_ != nullptr) optimizer_->set_rescale_grad(before_);
  }
  ScopedClip(const ScopedClip&) = delete;
  ScopedClip& operator=(const ScopedClip&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  Optimizer* optimizer_ = nullptr;
  double before_ = 1;
  absl::Status status_;
};

// Keeps the sum over contexts in the first context's gradient and zeroes the others. GetGrad adds
// the contexts up; so does the next step if Backward accumulates, or if this step fails and is
// repeated.
absl::Status Learner::KeepOneSum(absl::Span<const std::string> names) {
  for (const std::string& name : names) {
    const std::vector<NDArray>& grads = ArraysOf(name).grads;
    for (size_t i = 1; i < grads.size(); ++i) {
      if (!grads[i].is_null()) COOPER_RETURN_IF_ERROR(grads[i].Fill(0));
    }
  }
  return absl::OkStatus();
}

absl::Status Learner::UpdateContexts(absl::Span<const std::string> names) {
  if (setup_.kvstore != nullptr) COOPER_RETURN_IF_ERROR(KeepOneSum(names));
  for (size_t i = 0; i < setup_.updaters.size(); ++i) {
    const ScopedClip clip(*this, i, names);
    COOPER_RETURN_IF_ERROR(clip.status());
    to_update_.clear();
    for (const std::string& name : names) {
      const ParameterArrays& entry = ArraysOf(name);
      to_update_.push_back({name, entry.values[i], entry.grads[i]});
    }
    COOPER_RETURN_IF_ERROR(setup_.updaters[i]->UpdateAll(to_update_));
  }
  if (setup_.kvstore == nullptr || parameters_.num_contexts() == 1) return absl::OkStatus();
  std::vector<ArrayCopy> copies;
  for (const std::string& name : names) {
    const std::vector<NDArray>& values = ArraysOf(name).values;
    for (size_t i = 1; i < values.size(); ++i) copies.push_back({values[0], values[i]});
  }
  return CopyInQueues(copies);
}

std::vector<KVItem> Learner::ItemsFor(absl::Span<const std::string> names) const {
  std::vector<KVItem> items;
  items.reserve(names.size());
  for (const std::string& name : names) items.push_back(ItemFor(name));
  return items;
}

absl::StatusOr<KVStore::GradientReady> Learner::BeginGradients(
    absl::Span<const std::string> names) {
  if (!setup_.update_on_kvstore || parameters_.num_contexts() == 1 ||
      parameters_.contexts()[0].is_cpu()) {
    return KVStore::GradientReady();
  }
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  return setup_.kvstore->BeginGradients(ItemsFor(names));
}

// Pulls the parameters that only other processes had in this step: the store has updated them too.
absl::Status Learner::ApplyOthers(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(setup_.kvstore->Claim(setup_.claim, names));
  for (const std::string& name : names) {
    // Parameters that are not bound here for training get their value when they are bound.
    const ParameterArrays* entry = parameters_.Find(ParameterKind::kArg, name);
    if (entry == nullptr) continue;
    COOPER_RETURN_IF_ERROR(setup_.kvstore->Pull(name, entry->values));
  }
  return absl::OkStatus();
}

// Pulls the summed gradients of parameters that only other processes had in this step, because each
// process updates its own copy.
absl::Status Learner::PullOthers(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(setup_.kvstore->Claim(setup_.claim, names));
  for (const std::string& name : names) {
    if (parameters_.Grad(name).is_null()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Update: parameter '", name,
          "' is trained by another process, but has not been bound here; bind its bucket on all "
          "processes, or let the store update (update_on_kvstore, without clip_global_norm)"));
    }
    COOPER_RETURN_IF_ERROR(setup_.kvstore->Pull(name, ItemFor(name).outs));
  }
  return absl::OkStatus();
}

// Divides the optimizer's rescale_grad by the count for one update. All updaters share the
// optimizer. The count is kept, since a module that shares the parameters may update from the same
// backward pass.
class Learner::ScopedNormalization {
 public:
  explicit ScopedNormalization(Learner& learner) {
    if (learner.setup_.normalization == GradientNormalization::kBatchSize) return;
    optimizer_ = &learner.updater()->optimizer();
    before_ = optimizer_->rescale_grad();
    const auto counted =
        static_cast<double>(std::max<int64_t>(1, learner.gradient_record_.count()));
    optimizer_->set_rescale_grad(before_ / counted);
  }
  ~ScopedNormalization() {
    if (optimizer_ != nullptr) optimizer_->set_rescale_grad(before_);
  }
  ScopedNormalization(const ScopedNormalization&) = delete;
  ScopedNormalization& operator=(const ScopedNormalization&) = delete;

 private:
  Optimizer* optimizer_ = nullptr;
  double before_ = 1;
};

absl::StatusOr<bool> Learner::PrepareUpdate(const std::vector<std::string>& names,
                                            int64_t* name_of_update) {
  if (setup_.kvstore != nullptr || setup_.clip_global_norm > 0 || setup_.updaters.size() != 1) {
    return false;
  }
  to_update_.clear();
  for (const std::string& name : names) {
    const ParameterArrays& entry = ArraysOf(name);
    if (!(entry.values[0].context() == parameters_.contexts()[0])) return false;
    to_update_.push_back({name, entry.values[0], entry.grads[0]});
  }
  const ScopedNormalization normalization(*this);
  COOPER_ASSIGN_OR_RETURN(*name_of_update, setup_.updaters[0]->PrepareAll(to_update_));
  return true;
}

absl::Status Learner::RunPreparedUpdate(DeviceQueue* queue) const {
  return setup_.updaters[0]->RunPrepared(queue);
}

void Learner::ReleasePreparedUpdate() { setup_.updaters[0]->ReleasePrepared(); }

void Learner::MarkApplied(absl::Span<const std::string> names) {
  gradient_record_.MarkApplied(names);
  ++updates_;
}

absl::Status Learner::Update(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(SumAndUpdate(names));
  MarkApplied(names);
  return absl::OkStatus();
}

absl::Status Learner::SumAndUpdate(const std::vector<std::string>& names) {
  const ScopedNormalization normalization(*this);
  if (setup_.kvstore == nullptr) return UpdateContexts(names);
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info,
                          setup_.kvstore->Step(ItemsFor(names), /*active=*/true));
  if (setup_.update_on_kvstore) return ApplyOthers(info.others);
  COOPER_RETURN_IF_ERROR(PullOthers(info.others));
  // Sorted, because every process must update in the same order: sums and schedules are then equal
  // on all.
  std::vector<std::string> all = names;
  all.insert(all.end(), info.others.begin(), info.others.end());
  std::sort(all.begin(), all.end());
  return UpdateContexts(all);
}

absl::StatusOr<int> Learner::JoinUpdate() {
  if (setup_.kvstore == nullptr) return 0;
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info, setup_.kvstore->Step({}, /*active=*/false));
  if (setup_.update_on_kvstore) {
    COOPER_RETURN_IF_ERROR(ApplyOthers(info.others));
  } else {
    COOPER_RETURN_IF_ERROR(PullOthers(info.others));
    COOPER_RETURN_IF_ERROR(UpdateContexts(info.others));
  }
  if (info.active_workers > 0) ++updates_;
  return info.active_workers;
}

std::shared_ptr<KVStore> KVStoreOf(absl::Span<Learner* const> learners) {
  for (const Learner* learner : learners) {
    if (learner->kvstore() != nullptr) return learner->kvstore();
  }
  return nullptr;
}

}  // namespace cooper
