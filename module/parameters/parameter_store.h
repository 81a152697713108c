#ifndef COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_
#define COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_

// The one owner of what modules that train together learn and keep: parameters with their
// gradients, auxiliary states, states carried from batch to batch, and the optimizer with its
// states. Everything is found by name, never by position; executors are given the arrays when they
// are bound (DataParallelExecutorGroup) and own none of them.
//
// A name has an array on each of the store's contexts or on none. Its value comes from Init: from
// the given arrays, else from the initializer. A name that has no array yet, since only a network
// that is bound later has it, gets its value by the same rules when that is bound (Complete): given
// values wait for it.
//
// Not thread-safe, but for calls of const methods alone.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
#include "module/parameters/saved_parameters.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

enum class ParameterKind {
  kArg,    // learnt
  kAux,    // written by operators, such as moving means: each context has its own
  kState,  // carried from batch to batch
};

// What is to be allocated.
struct ArraySpec {
  Shape shape;
  DType dtype = DType::kFloat32;
  Context context = Context::Cpu();
};

class ParameterStore {
 public:
  // `contexts` must not be empty.
  explicit ParameterStore(const std::vector<Context>& contexts);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  int num_contexts() const { return static_cast<int>(contexts_.size()); }

  // --- Arrays.

  // Those that have arrays, in alphabetical order.
  std::vector<std::string> Names(ParameterKind kind) const;
  // The elements of all parameters, one context's.
  int64_t num_elements() const;
  // The array on a context, shared; null if there is none.
  NDArray Value(ParameterKind kind, const std::string& name, int context = 0) const;
  // Null also for a parameter without a gradient.
  NDArray Grad(const std::string& name, int context = 0) const;
  // The mean over the contexts, copied to CPU memory: a key-value store keeps parameters equal,
  // auxiliary states are each context's own. kNotFound, naming it, if there is no array.
  absl::StatusOr<NDArray> Mean(ParameterKind kind, const std::string& name) const;

  // Makes sure that there is an array, of zeros if it is new. One that is there stays, whatever its
  // shape: who binds with it finds out whether it suits.
  absl::Status Allocate(ParameterKind kind, const std::string& name, int context,
                        const ArraySpec& spec);
  // Likewise a gradient, like the parameter's array, which must be there.
  absl::Status AllocateGrad(const std::string& name, int context);
  // Drops the arrays of names without a value, on all contexts, so that they may get other shapes:
  // of all of them until Init has succeeded.
  void DropUninitialized(absl::Span<const std::string> args, absl::Span<const std::string> auxs);
  // Drops those of all parameters, gradients and auxiliary states.
  void DropArrays();
  // Drops those of these states.
  void DropStates(absl::Span<const std::string> names);
  // Nothing has been added to a gradient, or counted, after this.
  absl::Status ZeroGrads();
  // Changes whenever contexts get other arrays than they had: bound executors then take the new
  // ones.
  int64_t generation() const { return generation_; }

  // While it lives, what happens to arrays, names and waiting values can be undone; elements that
  // were overwritten stay so. Undone at its end unless Commit was called.
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
  // The names of one of several networks that share a store.
  struct NetworkNames {
    absl::Span<const std::string> args, auxs;
  };
  // Gives everything that has an array a value, and says how what comes later gets one. Does
  // nothing to an initialized store without force_init, but for taking the initializer where there
  // was none. kInvalidArgument, naming it, if a parameter is missing in the given maps (without
  // allow_missing) or has another shape; nothing is changed then. What `network` has not, others
  // alone have: it stays unless it is given; null: all are one model.
  absl::Status Init(const InitParamsOptions& options, const NetworkNames* network = nullptr);
  // BaseModule::SetParams, likewise. Of one model, extra values wait for networks to come.
  absl::Status Set(const ArrayMap& args, const ArrayMap& auxs, const SetParamsOptions& options,
                   const NetworkNames* network = nullptr);
  // After a network is bound, `args`, `auxs` and `attrs` (Symbol::VariableAttrDict) being its own:
  // gives those that are new to an initialized store the values that wait for them, those of the
  // key-value store, or the initializer's. kFailedPrecondition, naming it, if there is none.
  absl::Status Complete(absl::Span<const std::string> args, absl::Span<const std::string> auxs,
                        const std::map<std::string, AttrMap>& attrs);
  // Values that wait for an array of their name.
  const ArrayMap& waiting(ParameterKind kind) const { return of(kind).waiting; }

  // Keeps values until TakeLoaded, which sets them and does nothing if there are none.
  void Load(ModuleParams params) { loaded_ = std::move(params); }
  absl::Status TakeLoaded();

  // --- Learning.

  // Takes an optimizer, over which lr_mult and wd_mult of `options` win, and the key-value store
  // that sums gradients, compressed as said, and, with update_on_kvstore, updates; null: each
  // context updates for itself. Optimizer states that wait are loaded. After an error this store is
  // as before, but not the optimizer; nor the key-value store, unless another module has a key of
  // this one's.
  absl::Status InstallOptimizer(const std::shared_ptr<Optimizer>& optimizer,
                                std::shared_ptr<KVStore> kvstore,
                                const InitOptimizerOptions& options,
                                const Kwargs& compression_params = {});
  // What to say of options that change nothing, since there is an optimizer; empty if they ask for
  // nothing, or for that one.
  std::string IgnoredOptimizer(const InitOptimizerOptions& options) const;
  // The first context's, or the key-value store's; null until InstallOptimizer.
  std::shared_ptr<Updater> updater() const;
  const std::shared_ptr<KVStore>& kvstore() const { return learning_.kvstore; }
  // Updates the parameters from their gradients: those of `names`, which must have some, and, with
  // several processes, what the others have in this step. Allocates nothing on one context.
  absl::Status Update(const std::vector<std::string>& names);
  // Update in two calls, where nothing but the optimizer's kernels has a part in it, on one device:
  // no store, no clipping, one context, on which all of `names` are; false elsewhere, and nothing
  // has happened. The rest is as Optimizer says of PrepareAll, RunPrepared and ForgetPrepared. Who
  // has made the update says so (Learnt), as Update does by itself.
  absl::StatusOr<bool> PrepareUpdate(const std::vector<std::string>& names,
                                     int64_t* name_of_update);
  absl::Status RunPreparedUpdate(DeviceQueue* queue) const;
  void ForgetPreparedUpdate();
  // Of the gradients of `names` nothing is left to be learnt, and what is counted next begins anew.
  void Learnt(absl::Span<const std::string> names);
  // Before a backward pass that overwrites the gradients of `names`, which the next Update is of:
  // whether they may be summed over contexts while it runs. Then GradReady tells that `queue` holds
  // what makes a gradient on a context; it is thread-safe.
  absl::StatusOr<bool> BeginGrads(absl::Span<const std::string> names);
  absl::Status GradReady(const std::string& name, int context, DeviceQueue& queue) {
    return learning_.kvstore->GradientReady(name, context, queue);
  }
  // Takes part in an update of other processes (BaseModule::JoinUpdate).
  absl::StatusOr<int> JoinUpdate();
  // Updates since InstallOptimizer, those joined included; of a run that goes on, since its first
  // beginning. Processes that train together have the same number after each of them.
  int64_t updates() const { return updates_; }
  int batches_per_update() const { return learning_.batches_per_update; }

  // Tells that something was added to a gradient (WriteReq::kAdd), which is part of Capture until
  // ZeroGrads; with `shared`, to be learnt with the next update whatever network that is of.
  void GradAdded(const std::string& name, bool shared = true) {
    sums_.insert(name);
    if (shared) added_.insert(name);
  }
  // Those told of that no update has learnt, without `own`.
  std::vector<std::string> AddedBeside(absl::Span<const std::string> own) const;

  // What the optimizer's gradients are divided by, and how much of that is in the present ones:
  // added to what was counted since the last update, or in its place.
  GradientNormalization normalization() const { return learning_.normalization; }
  void CountGradients(int64_t count, bool add) {
    counted_ = add && !learnt_ ? counted_ + count : count;
    learnt_ = false;
  }

  // Where contexts may have come to values of their own, gives each the mean of all: auxiliary
  // states, and without a key-value store parameters. Nothing on one context.
  absl::Status AverageContexts();

  // --- A run that has gone wrong.

  // The first of `names` whose gradient, on any context, has an element that is NaN or infinite;
  // empty if none has. One pass over the gradients.
  absl::StatusOr<std::string> FindNonFiniteGrad(absl::Span<const std::string> names) const;
  // Likewise the first parameter that has a gradient, or auxiliary state.
  absl::StatusOr<std::string> FindNonFiniteValue() const;
  // Copies the auxiliary states, which a training batch writes, into arrays that are kept from call
  // to call; and writes them back.
  absl::Status KeepAuxs();
  absl::Status RestoreAuxs();

  // Files of optimizer states (updater.h), once there is an optimizer. A learning rate that
  // InstallOptimizer was given wins over the file's, but not over that which a schedule has come
  // to.
  absl::Status SaveOptimizerStates(const std::string& path) const;
  absl::Status LoadOptimizerStates(const std::string& path);
  // Loads them when InstallOptimizer is called.
  void LoadOptimizerStatesLater(std::string path) { states_to_load_ = std::move(path); }

  // --- Going on after a kill.

  // Copies of everything above. With several processes, parameters that only others have bound are
  // among them.
  absl::StatusOr<SavedParameters> Capture() const;
  // Whether `state` has a value for every array: kInvalidArgument that names one.
  absl::Status CheckHasAll(const SavedParameters& state) const;
  // Puts states of contexts, optimizer and key-value store back. What has no array yet waits.
  // The first context's parameters are Init's to put back before, and the optimizer is
  // InstallOptimizer's. kInvalidArgument if the state is of more contexts.
  absl::Status Restore(const SavedParameters& state);

 private:
  // What has one name.
  struct Entry {
    std::vector<NDArray> values;  // by context
    std::vector<NDArray> grads;   // likewise; null: none
    bool initialized = false;
  };

  // What is of one kind.
  struct Entries {
    std::map<std::string, Entry> by_name;
    ArrayMap waiting;
    // Values of contexts after the first, by context, that wait likewise; and gradients of all.
    std::map<std::string, std::vector<NDArray>> restored, restored_grads;
    bool given = false;  // whether Init was given values of this kind
  };

  struct Learning {
    std::shared_ptr<KVStore> kvstore;  // null: nothing is summed
    // Says which keys of the key-value store are this one's (KVStore::Claim).
    std::shared_ptr<const void> claim;
    bool update_on_kvstore = false;
    // The key-value store's in the steps of this one; null if it only sums.
    std::shared_ptr<Updater> store_updater;
    // One for each context, or with a key-value store one for all: what an optimizer counts or
    // draws must not depend on how many contexts there are. Empty if the key-value store has it.
    std::vector<std::shared_ptr<Updater>> updaters;
    double clip_global_norm = 0;  // 0: gradients are not clipped
    int batches_per_update = 1;
    bool rate_given = false;  // wins over that of a file of optimizer states
    std::string asked_for;    // what InstallOptimizer was asked for, in words
    GradientNormalization normalization = GradientNormalization::kBatchSize;
  };

  class ScopedNormalization;
  class ScopedClip;

  Entries& of(ParameterKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  const Entries& of(ParameterKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  // Null if there is no array of that name.
  const Entry* Find(ParameterKind kind, const std::string& name) const;
  Entry& EntryOf(ParameterKind kind, const std::string& name);

  // Gives every context, and the key-value store, the first one's value.
  absl::Status Broadcast(ParameterKind kind, const std::string& name);
  // Makes large parameters of all contexts that are in one memory the first one's own array, so
  // that an update reaches all of them; or, with `share` false, gives each context its own again.
  // With a key-value store all have the same values.
  absl::Status ShareValues(bool share);

  // Whether Init, which does not give it a value, lets a parameter keep the one that it has.
  bool Stays(ParameterKind kind, const std::string& name, const std::optional<ArrayMap>& given,
             const NetworkNames* network) const;
  absl::Status CheckCanInit(ParameterKind kind, absl::Span<const std::string> names) const;
  absl::Status InitNames(ParameterKind kind, absl::Span<const std::string> names);
  absl::Status InitOne(ParameterKind kind, const std::string& name);
  // Tells what updates a parameter that it has another value.
  absl::Status WeightChanged(const std::string& name) const;
  absl::Status PullNew(const std::string& name);
  // Gives arrays of further contexts what waits for them.
  absl::Status TakeRestored();
  absl::Status RestoreContext(int context, const ReplicaState& saved);
  absl::Status RestoreGrads(int context, const ArrayMap& grads);

  absl::Status Install(const std::shared_ptr<Optimizer>& optimizer,
                       std::shared_ptr<KVStore> kvstore, const InitOptimizerOptions& options,
                       const Kwargs& compression_params);
  KVItem ItemFor(const std::string& name) const;
  std::vector<KVItem> ItemsFor(absl::Span<const std::string> names) const;
  // The arguments' arrays on one context, to check optimizer states against.
  ArrayMap WeightsOf(int context) const;
  // Lets the key-value store do what it is to do for this one, which may not be the only one.
  absl::Status PrepareKVStore();
  absl::Status InitKVStore();
  absl::Status TakeOthers(const std::vector<std::string>& names);
  absl::Status PullOthers(const std::vector<std::string>& names);
  // Of gradients that the store has summed into every context's array, leaves the first one's.
  absl::Status KeepOneSum(absl::Span<const std::string> names);
  absl::Status UpdateContexts(absl::Span<const std::string> names);
  // Update without Learnt.
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
  std::set<std::string> added_;  // gradients that were added to and not learnt
  std::set<std::string> sums_;   // gradients that were added to since ZeroGrads
  int64_t updates_ = 0;
  int64_t counted_ = 0;  // of what the present gradients are divided by
  bool learnt_ = false;  // whether an update has been: what is counted next begins anew
  std::map<std::string, std::vector<NDArray>> kept_auxs_;  // of KeepAuxs, by context
  // Kept for their memory.
  std::vector<Updater::Parameter> to_update_;
  std::vector<NDArray> clipped_;
  std::vector<double> norm_blocks_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_PARAMETER_STORE_H_
