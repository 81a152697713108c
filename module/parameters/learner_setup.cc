// Installs the optimizer and the key-value store, and saves and restores their states.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "module/optimizer/create_optimizer.h"
#include "module/parameters/learner.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the key-value store that the options ask for. As in MXNet, one context needs none, and
// gets null, unless there are other processes. MXNet: python/mxnet/model.py (_create_kvstore).
absl::StatusOr<std::shared_ptr<KVStore>> RequestedKVStore(const InitOptimizerOptions& options,
                                                          int num_contexts) {
  std::shared_ptr<KVStore> store = options.kvstore_instance;
  const bool needed = num_contexts > 1 || absl::StartsWith(options.kvstore, "dist");
  if (store == nullptr && !options.kvstore.empty()) {
    // Created even if it is not needed, so that a misspelt type is an error.
    COOPER_ASSIGN_OR_RETURN(store, CreateKVStore(options.kvstore));
    if (!needed) store.reset();
  }
  return store;
}

// Returns the optimizer that the options ask for: their instance, or a new one. With normalization
// by batch size, rescale_grad is 1 / (batch_size * batches_per_update * processes of the store)
// unless the options give it. Logs options that an instance contradicts. `kvstore` may be null.
absl::StatusOr<std::shared_ptr<Optimizer>> RequestedOptimizer(const InitOptimizerOptions& options,
                                                              int64_t batch_size,
                                                              const KVStore* kvstore) {
  int64_t rows = batch_size * std::max(1, options.batches_per_update);
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

using NamedStates = std::vector<std::pair<std::string, NDArray>>;

// Copies `states`, which the updater still owns, to CPU memory.
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

}  // namespace

void Learner::WarnOfIgnored(const InitOptimizerOptions& options) const {
  const std::string requested = DescribeOptimizer(options);
  const bool is_there = options.instance != nullptr
                            ? options.instance.get() == &updater()->optimizer()
                            : requested == setup_.description;
  if (requested.empty() || is_there) return;
  LOG(WARNING) << "InitOptimizer: there is an optimizer" << (setup_.description.empty() ? "" : ", ")
               << setup_.description << ": " << requested << " is ignored without force_init";
}

absl::Status Learner::InitOptimizer(const InitOptimizerOptions& options, int64_t batch_size,
                                    const Kwargs& compression_params) {
  if (updater() != nullptr && !options.force_init) {
    WarnOfIgnored(options);
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<KVStore> kvstore,
                          RequestedKVStore(options, parameters_.num_contexts()));
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<Optimizer> optimizer,
                          RequestedOptimizer(options, batch_size, kvstore.get()));
  return InstallOptimizer(optimizer, kvstore, options, compression_params);
}

absl::Status Learner::InstallOptimizer(const std::shared_ptr<Optimizer>& optimizer,
                                       std::shared_ptr<KVStore> kvstore,
                                       const InitOptimizerOptions& options,
                                       const Kwargs& compression_params) {
  const Setup before = setup_;
  absl::Status status = Install(optimizer, std::move(kvstore), options, compression_params);
  if (status.ok()) return status;
  setup_ = before;
  // Contexts that update separately have values of their own.
  status.Update(parameters_.ShareValues(before.kvstore != nullptr));
  return status;
}

absl::Status Learner::Install(const std::shared_ptr<Optimizer>& optimizer,
                              std::shared_ptr<KVStore> kvstore, const InitOptimizerOptions& options,
                              const Kwargs& compression_params) {
  COOPER_RETURN_IF_ERROR(optimizer->CheckLearningRate());
  COOPER_RETURN_IF_ERROR(optimizer->AddSymbolAttributes(parameters_.attrs()));
  if (!options.lr_mult.empty()) optimizer->SetLrMult(options.lr_mult);
  if (!options.wd_mult.empty()) optimizer->SetWdMult(options.wd_mult);
  Setup setup{.kvstore = std::move(kvstore)};
  setup.description = DescribeOptimizer(options);
  setup.clip_global_norm = std::max(0.0, options.clip_global_norm);
  setup.normalization = options.normalization;
  setup.batches_per_update = std::max(1, options.batches_per_update);
  setup.rate_given = options.instance != nullptr
                         ? optimizer->learning_rate_given()
                         : options.optimizer_params.contains("learning_rate");
  if (setup.normalization != GradientNormalization::kBatchSize && setup.kvstore != nullptr &&
      setup.kvstore->num_workers() > 1) {
    return absl::UnimplementedError(
        "InitOptimizer: normalization by samples or tokens is for one process, several count each "
        "for itself");
  }
  if (setup.kvstore != nullptr) {
    setup.claim =
        setup.kvstore == setup_.kvstore ? setup_.claim : std::make_shared<const char>('\0');
    COOPER_RETURN_IF_ERROR(
        AddContext(setup.kvstore->Claim(setup.claim, parameters_.Names(ParameterKind::kArg)),
                   "InitOptimizer"));
    if (!compression_params.empty()) {
      COOPER_RETURN_IF_ERROR(setup.kvstore->SetGradientCompression(compression_params));
    }
    COOPER_RETURN_IF_ERROR(setup.kvstore->SetBuckets(
        {.bytes = options.gradient_bucket_bytes, .overlap = options.overlap_gradients}));
  }
  setup.update_on_kvstore =
      setup.kvstore != nullptr && options.update_on_kvstore && setup.clip_global_norm == 0;
  const int num_updaters = setup.kvstore != nullptr ? 1 : parameters_.num_contexts();
  for (int i = 0; i < num_updaters; ++i) {
    setup.updaters.push_back(std::make_shared<Updater>(optimizer));
    if (!states_to_load_.empty()) {
      COOPER_RETURN_IF_ERROR(
          setup.updaters.back()->LoadStates(states_to_load_, StatesOptions(i, setup.rate_given)));
    }
  }
  if (setup.update_on_kvstore) {
    setup.store_updater = setup.updaters[0];
    setup.updaters.clear();
  }
  setup_ = std::move(setup);
  COOPER_RETURN_IF_ERROR(parameters_.ShareValues(setup_.kvstore != nullptr));
  if (setup_.kvstore != nullptr) COOPER_RETURN_IF_ERROR(InitKVStore());
  states_to_load_.clear();
  updates_ = 0;
  return absl::OkStatus();
}

// Drops the store's values and states of an earlier training: they are not values of this one
// (where the store only summed, they are sums of gradients).
absl::Status Learner::InitKVStore() {
  KVStore& kvstore = *setup_.kvstore;
  COOPER_RETURN_IF_ERROR(kvstore.Reclaim(setup_.claim, parameters_.Names(ParameterKind::kArg)));
  const std::vector<std::string> keys_before = kvstore.keys();
  std::vector<KVItem> items;
  for (const auto& [name, entry] : parameters_.all(ParameterKind::kArg)) {
    if (!entry.grads[0].is_null()) items.push_back(ItemFor(name));
  }
  COOPER_RETURN_IF_ERROR(PrepareKVStore());
  COOPER_RETURN_IF_ERROR(kvstore.InitAll(items));
  // Claim the keys that only other processes have bound so far.
  std::vector<std::string> new_keys;
  for (const std::string& key : kvstore.keys()) {
    if (!absl::c_linear_search(keys_before, key)) new_keys.push_back(key);
  }
  return kvstore.Claim(setup_.claim, new_keys);
}

absl::Status Learner::SaveOptimizerStates(const std::string& path) const {
  return updater()->SaveStates(path);
}

ArrayMap Learner::WeightsOf(int context) const {
  ArrayMap weights;
  for (const auto& [name, entry] : parameters_.all(ParameterKind::kArg)) {
    weights.emplace(name, entry.values[context]);
  }
  return weights;
}

LoadStatesOptions Learner::StatesOptions(int context, bool keep_rate) const {
  LoadStatesOptions options = {.weights = WeightsOf(context), .keep_rate = keep_rate};
  MxnetPositions& positions = options.positions;
  positions.module = parameters_.arg_order();
  positions.context = context;
  positions.num_contexts = parameters_.num_contexts();
  for (const auto& [name, entry] : parameters_.all(ParameterKind::kArg)) {
    if (!entry.grads[context].is_null()) positions.trained.push_back(name);
    positions.trainer.push_back(name);
  }
  for (const std::string& name : parameters_.Names(ParameterKind::kAux)) {
    positions.trainer.push_back(name);
  }
  absl::c_sort(positions.trainer);
  return options;
}

absl::Status Learner::LoadOptimizerStates(const std::string& path) {
  const bool keep_rate = setup_.rate_given;
  if (setup_.update_on_kvstore) return updater()->LoadStates(path, StatesOptions(0, keep_rate));
  for (size_t i = 0; i < setup_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        setup_.updaters[i]->LoadStates(path, StatesOptions(static_cast<int>(i), keep_rate)));
  }
  return absl::OkStatus();
}

absl::StatusOr<SavedParameters> Learner::Capture() const {
  const std::shared_ptr<KVStore>& kvstore = setup_.kvstore;
  COOPER_ASSIGN_OR_RETURN(
      SavedParameters state,
      parameters_.Capture(/*args_are_equal=*/kvstore != nullptr, gradient_record_.sums()));
  if (updater() != nullptr) COOPER_RETURN_IF_ERROR(CopyOptimizer(*updater(), &state.optimizer));
  for (size_t i = 1; i < setup_.updaters.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        CopyOptimizer(*setup_.updaters[i], &state.replicas[static_cast<int>(i)].optimizer));
  }
  if (kvstore == nullptr) return state;
  if (kvstore->num_workers() > 1) state.updates = updates_;
  COOPER_ASSIGN_OR_RETURN(const NamedStates stored, kvstore->GetState());
  COOPER_RETURN_IF_ERROR(CopyList(stored, &state.kvstore));
  // Parameters that only other processes have bound so far.
  for (const std::string& key : kvstore->keys()) {
    if (parameters_.Find(ParameterKind::kArg, key) != nullptr) continue;
    COOPER_ASSIGN_OR_RETURN(state.args[key], kvstore->Get(key));
  }
  return state;
}

absl::Status Learner::Restore(const SavedParameters& state) {
  const int num_contexts = parameters_.num_contexts();
  if (!state.replicas.empty() && state.replicas.rbegin()->first >= num_contexts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RestoreTraining: the state is that of more contexts than the module's ", num_contexts));
  }
  // Gradients accumulated so far do not belong to the restored run.
  if (!gradient_record_.sums().empty()) COOPER_RETURN_IF_ERROR(ZeroGrads());
  COOPER_RETURN_IF_ERROR(parameters_.Restore(state));
  const auto record = [this](const ArrayMap& grads) {
    for (const auto& [name, array] : grads) gradient_record_.Accumulate(name, /*shared=*/false);
  };
  record(state.grads);
  for (const auto& [index, replica] : state.replicas) record(replica.grads);
  updates_ = state.updates.value_or(0);
  if (updater() != nullptr) {
    COOPER_RETURN_IF_ERROR(updater()->SetStates(state.optimizer, WeightsOf(0)));
  }
  for (size_t i = 1; i < setup_.updaters.size(); ++i) {
    const auto saved = state.replicas.find(static_cast<int>(i));
    const bool own = saved != state.replicas.end() && !saved->second.optimizer.empty();
    COOPER_RETURN_IF_ERROR(setup_.updaters[i]->SetStates(
        own ? saved->second.optimizer : state.optimizer, WeightsOf(static_cast<int>(i))));
  }
  if (setup_.kvstore == nullptr) return absl::OkStatus();
  return setup_.kvstore->SetState(state.kvstore);
}

}  // namespace cooper
