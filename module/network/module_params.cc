// Parameters of a Module: initialization, access and updates. The ParameterStore of its group owns
// them.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "glog/logging.h"
#include "module/network/module.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// Whether `type` sums over processes.
bool IsDistributed(const std::string& type) { return absl::StartsWith(type, "dist"); }

}  // namespace

absl::Status Module::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  const ParameterStore::NetworkNames own{.args = param_names_, .auxs = aux_names_};
  return group_->parameters().Init(options, &own);
}

absl::StatusOr<ModuleParams> Module::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  const ParameterStore& parameters = group_->parameters();
  ModuleParams params;
  for (const std::string& name : param_names_) {
    COOPER_ASSIGN_OR_RETURN(params.args[name], parameters.Mean(ParameterKind::kArg, name));
  }
  for (const std::string& name : aux_names_) {
    COOPER_ASSIGN_OR_RETURN(params.auxs[name], parameters.Mean(ParameterKind::kAux, name));
  }
  return params;
}

absl::Status Module::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                               const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  const ParameterStore::NetworkNames own{.args = param_names_, .auxs = aux_names_};
  return group_->parameters().Set(arg_params, aux_params, options, &own);
}

// As in MXNet, one device needs no store unless there are other processes.
absl::StatusOr<std::shared_ptr<KVStore>> Module::MakeKVStore(
    const InitOptimizerOptions& options) const {
  std::shared_ptr<KVStore> store = options.kvstore_instance;
  const bool needed = group_->num_contexts() > 1 || IsDistributed(options.kvstore);
  if (store == nullptr && !options.kvstore.empty()) {
    // Created even if it is not needed, so that a misspelt type is an error.
    COOPER_ASSIGN_OR_RETURN(store, CreateKVStore(options.kvstore));
    if (!needed) store.reset();
  }
  return store;
}

absl::StatusOr<std::shared_ptr<Optimizer>> Module::MakeOptimizer(
    const std::vector<DataDesc>& data_shapes, const InitOptimizerOptions& options,
    const KVStore* kvstore) {
  int64_t rows = BatchSizeOf(data_shapes) * std::max(1, options.batches_per_update);
  if (kvstore != nullptr) rows *= kvstore->num_workers();
  const double scale = 1.0 / static_cast<double>(std::max<int64_t>(1, rows));
  const bool by_batch_size = options.normalization == GradientNormalization::kBatchSize;
  if (options.instance != nullptr) {
    if (options.lr_scheduler != nullptr || !options.optimizer_params.empty()) {
      LOG(WARNING) << "InitOptimizer: "
                   << (options.lr_scheduler != nullptr ? "lr_scheduler" : "optimizer_params")
                   << " is ignored beside an instance, which has its own";
    }
    const double given = options.instance->rescale_grad();
    if (by_batch_size && std::abs(given - scale) > 1e-6 * scale) {
      LOG(WARNING) << "InitOptimizer: the instance's rescale_grad is " << given << ", not " << scale
                   << ", 1 / the batch size (of all processes); is this intended?";
    }
    return options.instance;
  }
  Kwargs params = options.optimizer_params;
  // MXNet's default, which must not overwrite a schedule's rate.
  if (params.empty() && options.lr_scheduler == nullptr) params["learning_rate"] = "0.01";
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<Optimizer> optimizer,
                          CreateOptimizer(options.optimizer, params, options.lr_scheduler));
  if (by_batch_size && !options.optimizer_params.contains("rescale_grad")) {
    optimizer->set_rescale_grad(scale);
  }
  return optimizer;
}

absl::Status Module::InitOptimizer(const InitOptimizerOptions& options) {
  return InitOptimizerFor(bind_options_.data_shapes, options);
}

absl::Status Module::InitOptimizerFor(const std::vector<DataDesc>& data_shapes,
                                      const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  if (optimizer_initialized() && !options.force_init) {
    const std::string ignored = group_->parameters().IgnoredOptimizer(options);
    if (!ignored.empty()) LOG(WARNING) << "InitOptimizer: " << ignored;
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<KVStore> kvstore, MakeKVStore(options));
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<Optimizer> optimizer,
                          MakeOptimizer(data_shapes, options, kvstore.get()));
  COOPER_RETURN_IF_ERROR(group_->parameters().InstallOptimizer(
      optimizer, kvstore, options, options_.compute.compression_params));
  group_->devices().SetRank(kvstore == nullptr ? 0 : kvstore->rank());
  return absl::OkStatus();
}

const std::vector<std::string>& Module::NamesToUpdate() {
  // Cached, because a step must not allocate.
  if (names_of_ != executor()) {
    names_of_ = executor();
    names_to_update_.clear();
    const std::vector<std::string>& grads = executor()->grad_names();
    for (const std::string& name : param_names_) {
      // A parameter without a gradient is fixed or was bound so.
      if (absl::c_linear_search(grads, name)) names_to_update_.push_back(name);
    }
  }
  const std::vector<std::string> others =
      group_->parameters().gradient_record().SharedExcept(names_to_update_);
  if (others.empty()) return names_to_update_;
  // Add the gradients that other buckets have accumulated.
  names_of_ = nullptr;
  names_to_update_.insert(names_to_update_.end(), others.begin(), others.end());
  return names_to_update_;
}

absl::Status Module::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  return group_->parameters().Update(NamesToUpdate());
}

absl::StatusOr<int> Module::JoinUpdate() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("JoinUpdate"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  return group_->parameters().JoinUpdate();
}

}  // namespace cooper
