// Updates parameters from their gradients.

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "module/kvstore/queued_copies.h"
#include "module/parameters/gradient_norm.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

std::shared_ptr<Updater> ParameterStore::updater() const {
  if (learning_.update_on_kvstore) return learning_.store_updater;
  return learning_.updaters.empty() ? nullptr : learning_.updaters[0];
}

absl::Status ParameterStore::PrepareKVStore() {
  KVStore& kvstore = *learning_.kvstore;
  return kvstore.updater() == learning_.store_updater ? absl::OkStatus()
                                                      : kvstore.SetUpdater(learning_.store_updater);
}

absl::Status ParameterStore::WeightChanged(const std::string& name) const {
  const Entry* const entry = Find(ParameterKind::kArg, name);
  if (learning_.update_on_kvstore) return updater()->WeightChanged(name, entry->values[0]);
  for (size_t i = 0; i < learning_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(learning_.updaters[i]->WeightChanged(name, entry->values[i]));
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::AverageContexts() {
  if (num_contexts() == 1) return absl::OkStatus();
  const auto average = [this](ParameterKind kind, const std::string& name) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const NDArray mean, Mean(kind, name));
    COOPER_RETURN_IF_ERROR(Value(kind, name).CopyFrom(mean));
    return Broadcast(kind, name);
  };
  for (const std::string& name : Names(ParameterKind::kAux)) {
    COOPER_RETURN_IF_ERROR(average(ParameterKind::kAux, name));
  }
  if (learning_.kvstore != nullptr) return absl::OkStatus();
  for (const std::string& name : Names(ParameterKind::kArg)) {
    if (Grad(name).is_null()) continue;  // a fixed parameter
    COOPER_RETURN_IF_ERROR(average(ParameterKind::kArg, name));
    COOPER_RETURN_IF_ERROR(WeightChanged(name));
  }
  return absl::OkStatus();
}

KVItem ParameterStore::ItemFor(const std::string& name) const {
  const Entry& entry = of(ParameterKind::kArg).by_name.at(name);
  return {.key = name,
          .weights = entry.values,
          .grads = entry.grads,
          .outs = learning_.update_on_kvstore ? entry.values : entry.grads};
}

// Scales the optimizer's rescale_grad for one update, so that the norm of a context's gradients
// stays within the limit. Scaling the factor costs no pass over the gradients.
class ParameterStore::ScopedClip {
 public:
  ScopedClip(ParameterStore& store, size_t context, absl::Span<const std::string> names) {
    const double limit = store.learning_.clip_global_norm;
    if (limit <= 0) return;
    store.clipped_.clear();
    for (const std::string& name : names) {
      store.clipped_.push_back(store.EntryOf(ParameterKind::kArg, name).grads[context]);
    }
    const absl::StatusOr<double> norm = GlobalNorm(store.clipped_, &store.norm_blocks_);
    status_ = norm.status();
    if (!status_.ok()) return;
    optimizer_ = &store.learning_.updaters[context]->optimizer();
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
absl::Status ParameterStore::KeepOneSum(absl::Span<const std::string> names) {
  for (const std::string& name : names) {
    const std::vector<NDArray>& grads = EntryOf(ParameterKind::kArg, name).grads;
    for (size_t i = 1; i < grads.size(); ++i) {
      if (!grads[i].is_null()) COOPER_RETURN_IF_ERROR(grads[i].Fill(0));
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::UpdateContexts(absl::Span<const std::string> names) {
  if (learning_.kvstore != nullptr) COOPER_RETURN_IF_ERROR(KeepOneSum(names));
  for (size_t i = 0; i < learning_.updaters.size(); ++i) {
    const ScopedClip clip(*this, i, names);
    COOPER_RETURN_IF_ERROR(clip.status());
    to_update_.clear();
    for (const std::string& name : names) {
      const Entry& entry = EntryOf(ParameterKind::kArg, name);
      to_update_.push_back({name, entry.values[i], entry.grads[i]});
    }
    COOPER_RETURN_IF_ERROR(learning_.updaters[i]->UpdateAll(to_update_));
  }
  if (learning_.kvstore == nullptr || num_contexts() == 1) return absl::OkStatus();
  std::vector<ArrayCopy> copies;
  for (const std::string& name : names) {
    const std::vector<NDArray>& values = EntryOf(ParameterKind::kArg, name).values;
    for (size_t i = 1; i < values.size(); ++i) copies.push_back({values[0], values[i]});
  }
  return CopyInQueues(copies);
}

std::vector<KVItem> ParameterStore::ItemsFor(absl::Span<const std::string> names) const {
  std::vector<KVItem> items;
  items.reserve(names.size());
  for (const std::string& name : names) items.push_back(ItemFor(name));
  return items;
}

absl::StatusOr<KVStore::GradientReady> ParameterStore::BeginGradients(
    absl::Span<const std::string> names) {
  if (!learning_.update_on_kvstore || num_contexts() == 1 || contexts_[0].is_cpu()) {
    return KVStore::GradientReady();
  }
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  return learning_.kvstore->BeginGradients(ItemsFor(names));
}

// Pulls the parameters that only other processes had in this step: the store has updated them too.
absl::Status ParameterStore::ApplyOthers(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(learning_.kvstore->Claim(learning_.claim, names));
  for (const std::string& name : names) {
    // Parameters that are not bound here for training get their value when they are bound.
    const Entry* entry = Find(ParameterKind::kArg, name);
    if (entry == nullptr) continue;
    COOPER_RETURN_IF_ERROR(learning_.kvstore->Pull(name, entry->values));
  }
  return absl::OkStatus();
}

// Pulls the summed gradients of parameters that only other processes had in this step, because each
// process updates its own copy.
absl::Status ParameterStore::PullOthers(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(learning_.kvstore->Claim(learning_.claim, names));
  for (const std::string& name : names) {
    if (Grad(name).is_null()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Update: parameter '", name,
          "' is trained by another process, but has not been bound here; bind its bucket on all "
          "processes, or let the store update (update_on_kvstore, without clip_global_norm)"));
    }
    COOPER_RETURN_IF_ERROR(learning_.kvstore->Pull(name, ItemFor(name).outs));
  }
  return absl::OkStatus();
}

// Divides the optimizer's rescale_grad by the count for one update. All updaters share the
// optimizer. The count is kept, since a module that shares the parameters may update from the same
// backward pass.
class ParameterStore::ScopedNormalization {
 public:
  explicit ScopedNormalization(ParameterStore& store) {
    if (store.learning_.normalization == GradientNormalization::kBatchSize) return;
    optimizer_ = &store.updater()->optimizer();
    before_ = optimizer_->rescale_grad();
    const auto counted = static_cast<double>(std::max<int64_t>(1, store.gradient_record_.count()));
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

absl::StatusOr<bool> ParameterStore::PrepareUpdate(const std::vector<std::string>& names,
                                                   int64_t* name_of_update) {
  if (learning_.kvstore != nullptr || learning_.clip_global_norm > 0 ||
      learning_.updaters.size() != 1) {
    return false;
  }
  to_update_.clear();
  for (const std::string& name : names) {
    const Entry& entry = EntryOf(ParameterKind::kArg, name);
    if (!(entry.values[0].context() == contexts_[0])) return false;
    to_update_.push_back({name, entry.values[0], entry.grads[0]});
  }
  const ScopedNormalization normalization(*this);
  COOPER_ASSIGN_OR_RETURN(*name_of_update, learning_.updaters[0]->PrepareAll(to_update_));
  return true;
}

absl::Status ParameterStore::RunPreparedUpdate(DeviceQueue* queue) const {
  return learning_.updaters[0]->RunPrepared(queue);
}

void ParameterStore::ReleasePreparedUpdate() { learning_.updaters[0]->ReleasePrepared(); }

void ParameterStore::MarkApplied(absl::Span<const std::string> names) {
  gradient_record_.MarkApplied(names);
  ++updates_;
}

absl::Status ParameterStore::Update(const std::vector<std::string>& names) {
  COOPER_RETURN_IF_ERROR(SumAndUpdate(names));
  MarkApplied(names);
  return absl::OkStatus();
}

absl::Status ParameterStore::SumAndUpdate(const std::vector<std::string>& names) {
  const ScopedNormalization normalization(*this);
  if (learning_.kvstore == nullptr) return UpdateContexts(names);
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info,
                          learning_.kvstore->Step(ItemsFor(names), /*active=*/true));
  if (learning_.update_on_kvstore) return ApplyOthers(info.others);
  COOPER_RETURN_IF_ERROR(PullOthers(info.others));
  // Sorted, because every process must update in the same order: sums and schedules are then equal
  // on all.
  std::vector<std::string> all = names;
  all.insert(all.end(), info.others.begin(), info.others.end());
  std::sort(all.begin(), all.end());
  return UpdateContexts(all);
}

absl::StatusOr<int> ParameterStore::JoinUpdate() {
  if (learning_.kvstore == nullptr) return 0;
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info, learning_.kvstore->Step({}, /*active=*/false));
  if (learning_.update_on_kvstore) {
    COOPER_RETURN_IF_ERROR(ApplyOthers(info.others));
  } else {
    COOPER_RETURN_IF_ERROR(PullOthers(info.others));
    COOPER_RETURN_IF_ERROR(UpdateContexts(info.others));
  }
  if (info.active_workers > 0) ++updates_;
  return info.active_workers;
}

}  // namespace cooper
