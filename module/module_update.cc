// How the parameters of a Module learn: optimizer, key-value store, update.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/gradient_norm.h"
#include "module/module.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/parallel.h"
#include "ndarray/profiler.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Whether `type` sums over processes.
bool IsDistributed(const std::string& type) { return absl::StartsWith(type, "dist"); }

}  // namespace

// As in MXNet, one device needs no store unless there are other processes.
absl::Status Module::MakeKVStore(const InitOptimizerOptions& options) {
  std::shared_ptr<KVStore> store = options.kvstore_instance;
  const bool needed = group_->replicas.size() > 1 || IsDistributed(options.kvstore);
  if (store == nullptr && !options.kvstore.empty()) {
    // Also where it is not needed, so that a misspelt type is told.
    COOPER_ASSIGN_OR_RETURN(store, CreateKVStore(options.kvstore));
    if (!needed) store.reset();
  }
  if (store != nullptr && !options_.compression_params.empty()) {
    COOPER_RETURN_IF_ERROR(store->SetGradientCompression(options_.compression_params));
  }
  group_->kvstore = std::move(store);
  // Devices of all processes draw different random numbers.
  const size_t n = group_->replicas.size();
  const size_t rank = group_->kvstore == nullptr ? 0 : group_->kvstore->rank();
  for (size_t i = 0; i < n; ++i) group_->replicas[i].random->replica = rank * n + i;
  group_->update_on_kvstore =
      group_->kvstore != nullptr && options.update_on_kvstore && options.clip_global_norm <= 0;
  return absl::OkStatus();
}

absl::Status Module::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  if (optimizer_initialized() && !options.force_init) return absl::OkStatus();
  std::shared_ptr<KVStore> kvstore_before = group_->kvstore;
  const bool on_kvstore_before = group_->update_on_kvstore;
  absl::Status status = MakeOptimizer(options);
  if (!status.ok()) {
    group_->kvstore = std::move(kvstore_before);
    group_->update_on_kvstore = on_kvstore_before;
  }
  return status;
}

absl::Status Module::MakeOptimizer(const InitOptimizerOptions& options) {
  std::shared_ptr<Optimizer> optimizer = options.instance;
  COOPER_RETURN_IF_ERROR(MakeKVStore(options));
  if (optimizer == nullptr) {
    COOPER_ASSIGN_OR_RETURN(optimizer, CreateOptimizer(options.optimizer, options.optimizer_params,
                                                       options.lr_scheduler));
    if (!options.optimizer_params.contains("rescale_grad")) {
      const DataDesc& data = data_shapes()[0];
      const int axis = std::max(0, BatchAxis(data.layout));
      int64_t batch_size = axis < data.shape.rank() ? data.shape[axis] : 1;
      batch_size *= std::max(1, options.batches_per_update);
      if (group_->kvstore != nullptr) batch_size *= group_->kvstore->num_workers();
      optimizer->set_rescale_grad(1.0 / static_cast<double>(std::max<int64_t>(1, batch_size)));
    }
  }
  COOPER_RETURN_IF_ERROR(optimizer->AddSymbolAttributes(group_->attrs));
  if (!options.lr_mult.empty()) optimizer->SetLrMult(options.lr_mult);
  if (!options.wd_mult.empty()) optimizer->SetWdMult(options.wd_mult);
  group_->clip_global_norm = std::max(0.0, options.clip_global_norm);
  std::vector<std::shared_ptr<Updater>> updaters;
  // With a store one updates for all: what an optimizer counts or draws must not depend on how many
  // contexts there are.
  const size_t num_updaters = group_->kvstore != nullptr ? 1 : group_->replicas.size();
  for (size_t i = 0; i < num_updaters; ++i) {
    updaters.push_back(std::make_shared<Updater>(optimizer));
    if (!states_to_load_.empty()) {
      COOPER_RETURN_IF_ERROR(updaters.back()->LoadStates(states_to_load_));
    }
  }
  if (group_->update_on_kvstore) {
    COOPER_RETURN_IF_ERROR(group_->kvstore->SetUpdater(updaters[0]));
  } else {
    for (size_t i = 0; i < group_->replicas.size(); ++i) {
      group_->replicas[i].updater = i < num_updaters ? updaters[i] : nullptr;
    }
  }
  states_to_load_.clear();
  COOPER_RETURN_IF_ERROR(group_->ShareArgs(group_->kvstore != nullptr));
  if (group_->kvstore == nullptr) return absl::OkStatus();
  std::vector<KVItem> items;
  for (const auto& [name, grad] : group_->first().grads) items.push_back(ItemFor(name));
  return group_->kvstore->InitAll(items);
}

KVItem Module::ItemFor(const std::string& name) const {
  KVItem item{.key = name, .weights = {}, .grads = {}, .outs = {}};
  for (const ModuleReplica& replica : group_->replicas) {
    item.weights.push_back(replica.args.at(name));
    item.grads.push_back(replica.grads.at(name));
  }
  item.outs = group_->update_on_kvstore ? item.weights : item.grads;
  return item;
}

// Sets the optimizer's rescale_grad for one update, so that the norm of a replica's gradients is
// not too large: that costs no pass over them.
class Module::ScopedClip {
 public:
  ScopedClip(ModuleGroup& group, const ModuleReplica& replica,
             absl::Span<const std::string> names) {
    if (group.clip_global_norm <= 0) return;
    group.clipped_grads.clear();
    for (const std::string& name : names) group.clipped_grads.push_back(replica.grads.at(name));
    const absl::StatusOr<double> norm = GlobalNorm(group.clipped_grads, &group.norm_blocks);
    status_ = norm.status();
    if (!status_.ok()) return;
    optimizer_ = &replica.updater->optimizer();
    before_ = optimizer_->rescale_grad();
    const double rescaled = *norm * std::abs(before_);
    if (rescaled > group.clip_global_norm) {
      optimizer_->set_rescale_grad(before_ * group.clip_global_norm / rescaled);
    }
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

// Parameters that only other processes had in the step have changed here too.
absl::Status Module::TakeOthers(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    // Those that are not bound here get their value when they are.
    if (!group_->first().grads.contains(name)) continue;
    COOPER_RETURN_IF_ERROR(group_->kvstore->Pull(name, ItemFor(name).outs));
  }
  return absl::OkStatus();
}

// Their summed gradients come here, where each process updates for itself.
absl::Status Module::PullOthers(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!group_->first().grads.contains(name)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Update: parameter '", name,
          "' is trained by another process, but has not been bound here; bind its bucket on all "
          "processes, or let the store update (update_on_kvstore, without clip_global_norm)"));
    }
    COOPER_RETURN_IF_ERROR(group_->kvstore->Pull(name, ItemFor(name).outs));
  }
  return absl::OkStatus();
}

absl::Status Module::UpdateReplicas(absl::Span<const std::string> names) {
  for (const ModuleReplica& replica : group_->replicas) {
    if (replica.updater == nullptr) continue;
    const ScopedClip clip(*group_, replica, names);
    COOPER_RETURN_IF_ERROR(clip.status());
    group_->to_update.clear();
    for (const std::string& name : names) {
      group_->to_update.push_back({name, replica.args.at(name), replica.grads.at(name)});
    }
    COOPER_RETURN_IF_ERROR(replica.updater->UpdateAll(group_->to_update));
  }
  if (group_->kvstore == nullptr) return absl::OkStatus();
  for (const std::string& name : names) COOPER_RETURN_IF_ERROR(group_->CopyArg(name));
  return absl::OkStatus();
}

const std::vector<std::string>& Module::NamesToUpdate() {
  // The same as last time, as a rule: a step allocates nothing.
  if (names_of_ != executor()) {
    names_of_ = executor();
    names_to_update_.clear();
    const std::vector<std::string>& grads = executor()->grad_names();
    for (const std::string& name : param_names_) {
      // Without a gradient it is fixed, or was bound so.
      if (absl::c_linear_search(grads, name)) names_to_update_.push_back(name);
    }
  }
  for (const std::string& name : names_to_update_) group_->pending.erase(name);
  if (group_->pending.empty()) return names_to_update_;
  // And those that other buckets have added to.
  names_of_ = nullptr;
  names_to_update_.insert(names_to_update_.end(), group_->pending.begin(), group_->pending.end());
  group_->pending.clear();
  return names_to_update_;
}

absl::Status Module::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  std::optional<ScopedLoopRunner> loops;
  if (group_->replicas.size() > 1) loops.emplace(&group_->threads);
  const std::vector<std::string>& own = NamesToUpdate();
  if (group_->kvstore == nullptr) return UpdateReplicas(own);
  std::vector<KVItem> items;
  items.reserve(own.size());
  for (const std::string& name : own) items.push_back(ItemFor(name));
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info, group_->kvstore->Step(items, /*active=*/true));
  if (group_->update_on_kvstore) return TakeOthers(info.others);
  COOPER_RETURN_IF_ERROR(PullOthers(info.others));
  // In the order in which every process takes them: sums and schedules are the same on all.
  std::vector<std::string> all = own;
  all.insert(all.end(), info.others.begin(), info.others.end());
  std::sort(all.begin(), all.end());
  return UpdateReplicas(all);
}

absl::StatusOr<int> Module::JoinUpdate() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("JoinUpdate"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  if (group_->kvstore == nullptr) return 0;
  COOPER_ASSIGN_OR_RETURN(const KVStepInfo info, group_->kvstore->Step({}, /*active=*/false));
  if (group_->update_on_kvstore) {
    COOPER_RETURN_IF_ERROR(TakeOthers(info.others));
  } else {
    COOPER_RETURN_IF_ERROR(PullOthers(info.others));
    COOPER_RETURN_IF_ERROR(UpdateReplicas(info.others));
  }
  return info.active_workers;
}

}  // namespace cooper
