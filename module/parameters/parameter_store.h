#ifndef COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_
#define COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_

// Owns everything that modules which train together learn and keep: parameters with their
// gradients, auxiliary states, states carried from batch to batch, and the optimizer with its
// states. Arrays are looked up by name, never by position. Executors receive the arrays when they
// are bound (DataParallelExecutorGroup) and own none of them.
//
// A name has an array on each of the store's contexts or on none. Init gives it a value: from the
// given arrays, else from the initializer. A name that only a network bound later has gets its
// value by the same rules when that network is bound (Complete); given values wait for it until
// then.
//
// Not thread-safe; concurrent calls of const methods are allowed.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/initializer/initializer.h"
#include "module/kvstore/kvstore.h"
#include "module/kwargs/kwargs.h"
#include "module/optimizer/updater.h"
#include "module/options/parameter_options.h"
#include "module/parameters/gradient_record.h"
#include "module/parameters/saved_parameters.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The kinds of arrays in a store.
enum class ParameterKind {
  kArg,    // trained
  kAux,    // written by operators, such as moving means; differs between contexts
  kState,  // carried from batch to batch
};

// The array to allocate.
struct ArraySpec {
  Shape shape;
  DType dtype = DType::kFloat32;
  Context context = Context::Cpu();
  bool is_written = false;  // by a kernel: BatchNorm with fix_gamma writes gamma
};

class ParameterStore {
 public:
  // `contexts` must not be empty.
  explicit ParameterStore(const std::vector<Context>& contexts);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  int num_contexts() const { return static_cast<int>(contexts_.size()); }

  // --- Arrays.

  // The names that have arrays, in alphabetical order.
  std::vector<std::string> Names(ParameterKind kind) const;
  // The number of elements of all parameters on one context.
  int64_t num_elements() const;
  // The array on a context, shared with the store; null if there is none.
  NDArray Value(ParameterKind kind, const std::string& name, int context = 0) const;
  // The gradient's array, shared with the store; null if the name or its gradient does not exist.
  NDArray Grad(const std::string& name, int context = 0) const;
  // Returns the mean over the contexts, copied to CPU memory. (A key-value store keeps parameters
  // equal; auxiliary states differ between contexts.) kNotFound, naming it, if there is no array.
  absl::StatusOr<NDArray> Mean(ParameterKind kind, const std::string& name) const;

  // Allocates an array of zeros if there is none. An existing array stays, whatever its shape:
  // binding checks whether it fits.
  absl::Status Allocate(ParameterKind kind, const std::string& name, int context,
                        const ArraySpec& spec);
  // Allocates a gradient of zeros with the shape, dtype and context of the parameter's array, which
  // must exist. Takes a restored gradient that waits for it.
  absl::Status AllocateGrad(const std::string& name, int context);
  // Drops the arrays of these names that have no value yet, on all contexts, so that they may get
  // other shapes. Until Init has succeeded, no name has a value.
  void DropUninitialized(absl::Span<const std::string> args, absl::Span<const std::string> auxs);
  // Drops the arrays of all parameters, gradients and auxiliary states.
  void DropArrays();
  // Drops the arrays of these states.
  void DropStates(absl::Span<const std::string> names);
  // Zeroes all gradients, and clears gradient_record().
  absl::Status ZeroGrads();
  // Changes whenever contexts get other arrays: bound executors then have to take the new ones.
  int64_t generation() const { return generation_; }

  // Undoes changes to arrays, names and waiting values at its end, unless Commit was called.
  // Elements that were overwritten stay overwritten.
  class Rollback {
   public:
    explicit Rollback(ParameterStore& store);
    ~Rollback();
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;
    void Commit();

   private:
    struct Saved;
    ParameterStore& store_;
    std::unique_ptr<Saved> saved_;  // null once committed
  };

  // --- Values.

  // Whether Init or Set has given values.
  bool initialized() const { return initialized_; }
  // The names of one of several networks that share the store.
  struct NetworkNames {
    absl::Span<const std::string> args, auxs;
  };
  // Gives everything that has an array a value, and sets the rules for arrays that come later. Does
  // nothing to an initialized store without force_init, except that it takes the initializer if
  // there was none. A name that only other networks have keeps its value unless it is given; with a
  // null `network` all names belong to one model.
  //
  // Errors: kInvalidArgument, naming it, if a parameter is missing in the given maps (without
  // allow_missing) or has another shape; nothing is changed then.
  absl::Status Init(const InitParamsOptions& options, const NetworkNames* network = nullptr);
  // BaseModule::SetParams for one of several networks, or for one model (null), where extra values
  // wait for networks that are bound later.
  absl::Status Set(const ArrayMap& args, const ArrayMap& auxs, const SetParamsOptions& options,
                   const NetworkNames* network = nullptr);
  // Called after a network with the names `args` and `auxs` and the attributes `attrs`
  // (Symbol::VariableAttrDict) is bound. Gives names that are new to an initialized store their
  // values: the waiting ones, those of the key-value store, or the initializer's.
  // kFailedPrecondition, naming the parameter, if there is none.
  absl::Status Complete(absl::Span<const std::string> args, absl::Span<const std::string> auxs,
                        const std::map<std::string, AttrMap>& attrs);
  // Values that wait for an array of their name.
  const ArrayMap& waiting(ParameterKind kind) const { return of(kind).waiting; }

  // Load keeps values until ApplyLoaded sets them. ApplyLoaded does nothing if there are none.
  void Load(ModuleParams params) { loaded_ = std::move(params); }
  absl::Status ApplyLoaded();

  // --- Training.

  // Takes an optimizer, whose lr_mult and wd_mult `options` overrides, and the key-value store that
  // sums gradients, compressed by `compression_params`, and, with update_on_kvstore, updates. Null
  // store: each context updates separately. Loads optimizer states that LoadOptimizerStatesLater
  // named. After an error this object is unchanged, but the optimizer is not; the key-value store
  // is unchanged only if the error is that another module has one of the keys.
  absl::Status InstallOptimizer(const std::shared_ptr<Optimizer>& optimizer,
                                std::shared_ptr<KVStore> kvstore,
                                const InitOptimizerOptions& options,
                                const Kwargs& compression_params = {});
  // Returns a warning about optimizer options that have no effect, because there is an optimizer
  // already; empty if they request nothing, or that optimizer.
  std::string IgnoredOptimizer(const InitOptimizerOptions& options) const;
  // The updater of the first context or of the key-value store; null until InstallOptimizer.
  std::shared_ptr<Updater> updater() const;
  const std::shared_ptr<KVStore>& kvstore() const { return learning_.kvstore; }
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
  int batches_per_update() const { return learning_.batches_per_update; }

  // The sums among the gradients, which Capture includes, and the count that `normalization`
  // divides by. ZeroGrads clears it.
  GradientRecord& gradient_record() { return gradient_record_; }
  // The divisor of the optimizer's gradients.
  GradientNormalization normalization() const { return learning_.normalization; }

  // Gives each context the mean over all contexts of the auxiliary states and, without a key-value
  // store, of the parameters. Does nothing on one context.
  absl::Status AverageContexts();

  // --- Non-finite values.

  // Returns the first of `names` whose gradient has, on any context, an element that is NaN or
  // infinite; empty if there is none. Makes one pass over the gradients.
  absl::StatusOr<std::string> FindNonFiniteGrad(absl::Span<const std::string> names) const;
  // Returns the first parameter with a gradient, or auxiliary state, that has such an element.
  absl::StatusOr<std::string> FindNonFiniteValue() const;
  // KeepAuxs copies the auxiliary states, which a training batch overwrites, into arrays that are
  // reused from call to call; RestoreAuxs copies them back.
  absl::Status KeepAuxs();
  absl::Status RestoreAuxs();

  // Save and load files of optimizer states (updater.h); require an optimizer. A learning rate
  // given to InstallOptimizer takes precedence over the file's, but not over the rate of a
  // schedule.
  absl::Status SaveOptimizerStates(const std::string& path) const;
  absl::Status LoadOptimizerStates(const std::string& path);
  // Makes InstallOptimizer load the file.
  void LoadOptimizerStatesLater(std::string path) { states_to_load_ = std::move(path); }

  // --- Checkpoint and resume.

  // Copies the whole state of this object to CPU memory. With several processes this includes
  // parameters that only others have bound.
  absl::StatusOr<SavedParameters> Capture() const;
  // Checks that `state` has a value for every array: kInvalidArgument, naming one that is missing.
  absl::Status CheckHasAll(const SavedParameters& state) const;
  // Restores the states of contexts, optimizer and key-value store. Values whose arrays do not
  // exist yet wait for them. Call Init with the first context's parameters and InstallOptimizer
  // before. kInvalidArgument if the state has more contexts.
  absl::Status Restore(const SavedParameters& state);

 private:
  // The arrays of one name.
  struct Entry {
    std::vector<NDArray> values;  // by context
    std::vector<NDArray> grads;   // by context; null: none
    bool initialized = false;
    bool is_written = false;  // as ArraySpec, by the network of any bucket
  };

  // All arrays of one kind.
  struct Entries {
    std::map<std::string, Entry> by_name;
    ArrayMap waiting;
    // Restored values that wait for their arrays, by context (of parameters, only those after the
    // first context); and restored gradients of all contexts.
    std::map<std::string, std::vector<NDArray>> restored, restored_grads;
    bool given = false;  // whether Init was given values of this kind
  };

  struct Learning {
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
    std::string description;  // of the requested optimizer, for IgnoredOptimizer
    GradientNormalization normalization = GradientNormalization::kBatchSize;
  };

  class ScopedNormalization;
  class ScopedClip;

  Entries& of(ParameterKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  const Entries& of(ParameterKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  // Null if there is no array of that name.
  const Entry* Find(ParameterKind kind, const std::string& name) const;
  Entry& EntryOf(ParameterKind kind, const std::string& name);

  // Copies the first context's value to every other context and to the key-value store.
  absl::Status Broadcast(ParameterKind kind, const std::string& name);
  // Makes contexts in the same memory share the first context's arrays of large parameters, so that
  // one update reaches all; with `share` false, gives each context a copy of its own. A key-value
  // store keeps the values equal.
  absl::Status ShareValues(bool share);
  // Gives each context an array of its own where ShareValues has made them one.
  absl::Status Separate(Entry& entry);

  // Whether a parameter that Init does not give a value keeps its present one.
  bool Stays(ParameterKind kind, const std::string& name, const std::optional<ArrayMap>& given,
             const NetworkNames* network) const;
  absl::Status CheckCanInit(ParameterKind kind, absl::Span<const std::string> names) const;
  absl::Status InitNames(ParameterKind kind, absl::Span<const std::string> names);
  absl::Status InitOne(ParameterKind kind, const std::string& name);
  // Notifies the updaters that a parameter was given a new value.
  absl::Status WeightChanged(const std::string& name) const;
  // Initializes a parameter from the key-value store.
  absl::Status PullNew(const std::string& name);
  // Gives new arrays the restored values that wait for them.
  absl::Status ApplyRestored();
  absl::Status RestoreContext(int context, const ReplicaState& saved);
  absl::Status RestoreGrads(int context, const ArrayMap& grads);

  absl::Status Install(const std::shared_ptr<Optimizer>& optimizer,
                       std::shared_ptr<KVStore> kvstore, const InitOptimizerOptions& options,
                       const Kwargs& compression_params);
  KVItem ItemFor(const std::string& name) const;
  std::vector<KVItem> ItemsFor(absl::Span<const std::string> names) const;
  // The arrays of all parameters on one context, to check optimizer states against.
  ArrayMap WeightsOf(int context) const;
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

  const std::vector<Context> contexts_;
  std::array<Entries, 3> kinds_;          // by ParameterKind
  std::map<std::string, AttrMap> attrs_;  // of the variables of all networks
  bool share_values_ = false;
  int64_t generation_ = 0;

  bool initialized_ = false;
  std::shared_ptr<const Initializer> initializer_;  // null: none was given
  uint64_t init_seed_ = 0;
  bool allow_missing_ = false;
  std::optional<ModuleParams> loaded_;

  Learning learning_;
  std::string states_to_load_;
  GradientRecord gradient_record_;
  int64_t updates_ = 0;
  std::map<std::string, std::vector<NDArray>> kept_auxs_;  // saved by KeepAuxs, by context
  // Reused to avoid allocations.
  std::vector<Updater::Parameter> to_update_;
  std::vector<NDArray> clipped_;
  std::vector<double> norm_blocks_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_
