// Installs the optimizer and the key-value store.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Describes the requested optimizer; empty if the options are the defaults.
std::string DescribeOptimizer(const InitOptimizerOptions& options) {
  if (options.instance != nullptr) return "an instance";
  if (options.optimizer_params.empty() && options.lr_scheduler == nullptr &&
      options.optimizer == InitOptimizerOptions().optimizer) {
    return "";
  }
  return absl::StrCat(
      options.optimizer, "(",
      absl::StrJoin(options.optimizer_params.texts(), ", ", absl::PairFormatter("=")), ")",
      options.lr_scheduler == nullptr ? "" : " with a schedule");
}

}  // namespace

std::string ParameterStore::IgnoredOptimizer(const InitOptimizerOptions& options) const {
  const std::string requested = DescribeOptimizer(options);
  const bool is_there =
      options.instance != nullptr
          ? updater() != nullptr && options.instance.get() == &updater()->optimizer()
          : requested == learning_.description;
  if (requested.empty() || is_there) return "";
  return absl::StrCat("there is an optimizer", learning_.description.empty() ? "" : ", ",
                      learning_.description, ": ", requested, " is ignored without force_init");
}

absl::Status ParameterStore::InstallOptimizer(const std::shared_ptr<Optimizer>& optimizer,
                                              std::shared_ptr<KVStore> kvstore,
                                              const InitOptimizerOptions& options,
                                              const Kwargs& compression_params) {
  const Learning before = learning_;
  absl::Status status = Install(optimizer, std::move(kvstore), options, compression_params);
  if (status.ok()) return status;
  learning_ = before;
  // Contexts that update separately have values of their own.
  status.Update(ShareValues(before.kvstore != nullptr));
  return status;
}

absl::Status ParameterStore::Install(const std::shared_ptr<Optimizer>& optimizer,
                                     std::shared_ptr<KVStore> kvstore,
                                     const InitOptimizerOptions& options,
                                     const Kwargs& compression_params) {
  COOPER_RETURN_IF_ERROR(optimizer->CheckLearningRate());
  COOPER_RETURN_IF_ERROR(optimizer->AddSymbolAttributes(attrs_));
  if (!options.lr_mult.empty()) optimizer->SetLrMult(options.lr_mult);
  if (!options.wd_mult.empty()) optimizer->SetWdMult(options.wd_mult);
  Learning learning{.kvstore = std::move(kvstore)};
  learning.description = DescribeOptimizer(options);
  learning.clip_global_norm = std::max(0.0, options.clip_global_norm);
  learning.normalization = options.normalization;
  learning.batches_per_update = std::max(1, options.batches_per_update);
  learning.rate_given = options.instance != nullptr
                            ? optimizer->learning_rate_given()
                            : options.optimizer_params.contains("learning_rate");
  if (learning.normalization != GradientNormalization::kBatchSize && learning.kvstore != nullptr &&
      learning.kvstore->num_workers() > 1) {
    return absl::UnimplementedError(
        "InitOptimizer: normalization by samples or tokens is for one process, several count each "
        "for itself");
  }
  if (learning.kvstore != nullptr) {
    learning.claim = learning.kvstore == learning_.kvstore ? learning_.claim
                                                           : std::make_shared<const char>('\0');
    COOPER_RETURN_IF_ERROR(AddContext(
        learning.kvstore->Claim(learning.claim, Names(ParameterKind::kArg)), "InitOptimizer"));
    if (!compression_params.empty()) {
      COOPER_RETURN_IF_ERROR(learning.kvstore->SetGradientCompression(compression_params));
    }
    COOPER_RETURN_IF_ERROR(learning.kvstore->SetBuckets(
        {.bytes = options.gradient_bucket_bytes, .overlap = options.overlap_gradients}));
  }
  learning.update_on_kvstore =
      learning.kvstore != nullptr && options.update_on_kvstore && learning.clip_global_norm == 0;
  const int num_updaters = learning.kvstore != nullptr ? 1 : num_contexts();
  for (int i = 0; i < num_updaters; ++i) {
    learning.updaters.push_back(std::make_shared<Updater>(optimizer));
    if (!states_to_load_.empty()) {
      COOPER_RETURN_IF_ERROR(
          learning.updaters.back()->LoadStates(states_to_load_, {}, learning.rate_given));
    }
  }
  if (learning.update_on_kvstore) {
    learning.store_updater = learning.updaters[0];
    learning.updaters.clear();
  }
  learning_ = std::move(learning);
  COOPER_RETURN_IF_ERROR(ShareValues(learning_.kvstore != nullptr));
  if (learning_.kvstore != nullptr) COOPER_RETURN_IF_ERROR(InitKVStore());
  states_to_load_.clear();
  updates_ = 0;
  return absl::OkStatus();
}

// Drops the store's values and states of an earlier training: they are not values of this one
// (where the store only summed, they are sums of gradients).
absl::Status ParameterStore::InitKVStore() {
  KVStore& kvstore = *learning_.kvstore;
  COOPER_RETURN_IF_ERROR(kvstore.Reclaim(learning_.claim, Names(ParameterKind::kArg)));
  const std::vector<std::string> keys_before = kvstore.keys();
  std::vector<KVItem> items;
  for (const auto& [name, entry] : of(ParameterKind::kArg).by_name) {
    if (!entry.grads[0].is_null()) items.push_back(ItemFor(name));
  }
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_RETURN_IF_ERROR(kvstore.InitAll(items));
  // Claim the keys that only other processes have bound so far.
  std::vector<std::string> new_keys;
  for (const std::string& key : kvstore.keys()) {
    if (!absl::c_linear_search(keys_before, key)) new_keys.push_back(key);
  }
  return kvstore.Claim(learning_.claim, new_keys);
}

}  // namespace cooper
