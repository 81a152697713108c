#ifndef COOPER_MODULE_PARAMETERS_LEARNER_H_
#define COOPER_MODULE_PARAMETERS_LEARNER_H_

// Updates Parameters from their gradients: the optimizer with its states, the key-value store that
// sums gradients over contexts and processes, gradient clipping and normalisation, and how many
// updates there were. Modules that train together share one Learner.
//
// Not thread-safe; concurrent calls of const methods are allowed.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/kvstore/kvstore.h"
#include "module/kwargs/kwargs.h"
#include "module/optimizer/updater.h"
#include "module/options/parameter_options.h"
#include "module/parameters/finite.h"
#include "module/parameters/gradient_record.h"
#include "module/parameters/parameters.h"
#include "module/parameters/saved_parameters.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Owns the optimizer's states. Gradients and parameters stay in `parameters`.
class Learner {
 public:
  // Sets the hooks of `parameters`, which must outlive this object.
  explicit Learner(Parameters& parameters);
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  Parameters& parameters() const { return parameters_; }

  // BaseModule::InitOptimizer. Gradients are divided by `batch_size` unless the options say
  // otherwise. Does nothing, and logs options that would have an effect, if there is an optimizer
  // and options.force_init is not set. Errors: those of CreateOptimizer, CreateKVStore and
  // InstallOptimizer.
  absl::Status InitOptimizer(const InitOptimizerOptions& options, int64_t batch_size,
                             const Kwargs& compression_params);
  // Takes an optimizer, whose lr_mult and wd_mult `options` overrides, and the key-value store that
  // sums gradients, compressed by `compression_params`, and, with update_on_kvstore, updates. Null
  // store: each context updates separately. Loads optimizer states that LoadOptimizerStatesLater
  // named. After an error this object is unchanged, but the optimizer is not; the key-value store
  // is unchanged only if the error is that another module has one of the keys.
  absl::Status InstallOptimizer(const std::shared_ptr<Optimizer>& optimizer,
                                std::shared_ptr<KVStore> kvstore,
                                const InitOptimizerOptions& options,
                                const Kwargs& compression_params = {});
  // The updater of the first context or of the key-value store; null until InstallOptimizer.
  std::shared_ptr<Updater> updater() const;
  // Returns the store that sums gradients; null if there is none.
  const std::shared_ptr<KVStore>& kvstore() const { return setup_.kvstore; }

  // --- Training.

  // Updates the parameters `names`, all of which have gradients, and, with several processes, the
  // ones that the others have in this step. Allocates nothing on one context.
  absl::Status Update(const std::vector<std::string>& names);
  // Update in two calls. PrepareUpdate returns false, having done nothing, unless only the
  // optimizer's kernels take part in the update: one context that has all of `names`, no store, no
  // clipping. Otherwise the calls behave as Optimizer::PrepareAll, RunPrepared and ReleasePrepared.
  // The caller must then call MarkApplied, which Update does by itself.
  absl::StatusOr<bool> PrepareUpdate(const std::vector<std::string>& names,
                                     int64_t* name_of_update);
  absl::Status RunPreparedUpdate(DeviceQueue* queue) const;
  void ReleasePreparedUpdate();
  // Counts an update, and marks the gradients of `names` as applied.
  void MarkApplied(absl::Span<const std::string> names);
  // Called before a backward pass that overwrites the gradients of `names`, which the next Update
  // will have: KVStore::BeginGradients, whose function takes names and contexts. Null without sums.
  absl::StatusOr<KVStore::GradientReady> BeginGradients(absl::Span<const std::string> names);
  // Takes part in an update of other processes (BaseModule::JoinUpdate).
  absl::StatusOr<int> JoinUpdate();
  // Updates since InstallOptimizer, including joined ones; for a resumed run of several processes,
  // since the run's beginning. Processes that train together have the same number after each
  // update.
  int64_t updates() const { return updates_; }
  int batches_per_update() const { return setup_.batches_per_update; }

  // The sums among the gradients, which Capture includes, and the count that `normalization`
  // divides by.
  GradientRecord& gradient_record() { return gradient_record_; }
  // The divisor of the optimizer's gradients.
  GradientNormalization normalization() const { return setup_.normalization; }
  // Zeroes all gradients, and clears gradient_record().
  absl::Status ZeroGrads();

  // CheckValuesFinite (finite.h) of the parameters.
  absl::Status CheckParamsFinite() const { return CheckValuesFinite(parameters_); }
  // Gives each context the mean over all contexts of the auxiliary states and, without a key-value
  // store, of the parameters. Does nothing on one context.
  absl::Status AverageContexts();

  // --- Checkpoint and resume.

  // Save and load files of optimizer states (updater.h), those of MXNet included; require an
  // optimizer. A learning rate given to InstallOptimizer takes precedence over the file's, but not
  // over the rate of a schedule.
  absl::Status SaveOptimizerStates(const std::string& path) const;
  absl::Status LoadOptimizerStates(const std::string& path);
  // Makes InstallOptimizer load the file.
  void LoadOptimizerStatesLater(std::string path) { states_to_load_ = std::move(path); }

  // Copies the state of this object and of its parameters to CPU memory. With several processes
  // this includes parameters that only others have bound.
  absl::StatusOr<SavedParameters> Capture() const;
  // Restores the states of contexts, optimizer and key-value store. Values whose arrays do not
  // exist yet wait for them. Call Parameters::Init with the first context's parameters and
  // InstallOptimizer before. kInvalidArgument if the state has more contexts.
  absl::Status Restore(const SavedParameters& state);

 private:
  // The members that InstallOptimizer sets.
  struct Setup {
    std::shared_ptr<KVStore> kvstore;  // null: nothing is summed
    // Identifies the keys of the key-value store that belong to this object (KVStore::Claim).
    std::shared_ptr<const void> claim;
    bool update_on_kvstore = false;
    // The updater that the key-value store uses in this object's steps; null if the store only
    // sums.
    std::shared_ptr<Updater> store_updater;
    // One for each context, or with a key-value store one for all: counts and random draws of an
    // optimizer must not depend on the number of contexts. Empty if the key-value store updates.
    std::vector<std::shared_ptr<Updater>> updaters;
    double clip_global_norm = 0;  // 0: gradients are not clipped
    int batches_per_update = 1;
    bool rate_given = false;  // wins over that of a file of optimizer states
    std::string description;  // of the requested optimizer, for WarnOfIgnored
    GradientNormalization normalization = GradientNormalization::kBatchSize;
  };

  class ScopedNormalization;
  class ScopedClip;

  // The hooks of parameters_. ValueSet gives the key-value store and the updaters the new value of
  // a parameter. FindValues claims the store's keys for new parameters, and returns those that
  // another process has already trained. Fill pulls these, and gives the optimizer the attributes
  // of the symbols.
  absl::Status ValueSet(const std::string& name) const;
  absl::StatusOr<std::vector<std::string>> FindValues(const std::vector<std::string>& names) const;
  absl::Status Fill(const std::vector<std::string>& names) const;

  // Logs optimizer options that have no effect, because there is an optimizer already, unless they
  // request nothing, or that optimizer.
  void WarnOfIgnored(const InitOptimizerOptions& options) const;
  absl::Status Install(const std::shared_ptr<Optimizer>& optimizer,
                       std::shared_ptr<KVStore> kvstore, const InitOptimizerOptions& options,
                       const Kwargs& compression_params);
  // The arrays of a parameter, which must exist.
  const ParameterArrays& ArraysOf(const std::string& name) const;
  KVItem ItemFor(const std::string& name) const;
  std::vector<KVItem> ItemsFor(absl::Span<const std::string> names) const;
  // The arrays of all parameters on one context, to check optimizer states against.
  ArrayMap WeightsOf(int context) const;
  // How the file of optimizer states of a context is read.
  LoadStatesOptions StatesOptions(int context, bool keep_rate) const;
  // Sets the key-value store's updater to this object's, since other modules may use the store as
  // well.
  absl::Status PrepareKVStore();
  absl::Status InitKVStore();
  absl::Status ApplyOthers(const std::vector<std::string>& names);
  absl::Status PullOthers(const std::vector<std::string>& names);
  // Zeroes all but the first context's gradient, after the store has written the sum to every
  // context.
  absl::Status KeepOneSum(absl::Span<const std::string> names);
  absl::Status UpdateContexts(absl::Span<const std::string> names);
  // Update without the call of MarkApplied.
  absl::Status SumAndUpdate(const std::vector<std::string>& names);

  Parameters& parameters_;
  Setup setup_;
  std::string states_to_load_;
  GradientRecord gradient_record_;
  int64_t updates_ = 0;
  // Reused to avoid allocations.
  std::vector<Updater::Parameter> to_update_;
  std::vector<NDArray> clipped_;
  std::vector<double> norm_blocks_;
};

// Returns the first store of a learner that has one; null if there is none.
std::shared_ptr<KVStore> KVStoreOf(absl::Span<Learner* const> learners);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_LEARNER_H_
