#ifndef COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_
#define COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_

// Trains networks whose inputs have no fixed size: `sym_gen` makes one symbol per bucket key, and
// batches switch between them. All buckets share parameters, gradients, auxiliary states and
// optimizer states by name, and one arena, which is as large as the largest bucket's plan whatever
// the default key, the order or the number of buckets. MXNet:
// python/mxnet/module/bucketing_module.py.
//
//   COOPER_ASSIGN_OR_RETURN(auto model, BucketingModule::Create(
//       {.sym_gen = sym_gen, .default_bucket_key = iter->default_bucket_key()}));
//   COOPER_RETURN_IF_ERROR(model->Fit(*iter, {.num_epoch = 25}));

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "io/batch/bucket_key.h"
#include "module/interface/base_module.h"
#include "module/kwargs/kwargs.h"
#include "module/network/module.h"
#include "module/options/group_contexts.h"
#include "module/options/sym_gen.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"

namespace cooper {

struct BucketingModuleOptions {
  // Called when a key is bound (again, if it was unbound in between), and for the names of the
  // default bucket before. Automatic names start anew each time, so that they are equal over the
  // keys. Always on the thread of the caller, while none of its buckets is being changed. A key
  // that it takes for one of another kind (BucketKey::int_value of a string) is kInvalidArgument,
  // with that key and the default one.
  SymGen sym_gen;
  // The bucket that Bind binds. Any key may be the default one.
  std::optional<BucketKey> default_bucket_key;
  std::vector<Context> contexts = {Context::Cpu()};
  std::vector<double> work_load_list;
  GroupContexts group2ctxs;
  bool fallback = false;  // as ModuleOptions'
  Kwargs compression_params;
  // As ModuleOptions', of the default bucket, which must have them all; another bucket takes those
  // that it has.
  std::vector<std::string> fixed_param_names;
  std::vector<std::string> state_names;
  std::set<std::string> disabled_passes;
  bool label_probabilities = false;  // as ModuleOptions'
  // At most so many buckets stay bound (Prepare may add one to a current bucket); the one used
  // longest ago is unbound for a new one. Its parameters are the module's and stay: bound again it
  // computes the same bits. One that is bound for training and for evaluation counts twice. 0: no
  // limit.
  int max_bound_buckets = 0;
  // Likewise, as many as hold so many bytes together (BucketReport::held_bytes; parameters and the
  // arena, which no eviction makes smaller, are not in it). The current bucket stays, whatever it
  // holds. 0: no limit.
  int64_t max_bound_bytes = 0;
  LoadLimits load_limits;  // of the symbol files, for Load
};

// The shapes of one bucket, to bind it before its first batch.
struct BucketShapes {
  BucketKey key;
  std::vector<DataDesc> data_shapes;
  std::vector<DataDesc> label_shapes;
};

struct BucketReport {
  BucketKey key;
  MemoryReport memory;
  // Of the plan that Score and Predict run, beside one for training; zeros where there is none.
  MemoryReport evaluation;
  // Graphs, programs and plans of both, beside the arena: an estimate (Module::held_bytes).
  int64_t held_bytes = 0;
  // Making the symbol and binding it, on whatever threads. Of buckets that PrepareAll binds at the
  // same time each has its own, which together are more than what PrepareAll takes.
  double bind_seconds = 0;
};

class BucketingModule : public BaseModule {
 public:
  // kInvalidArgument if sym_gen or default_bucket_key is missing.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> Create(BucketingModuleOptions options);

  // A module with the parameters of SaveCheckpoint, ready for Bind. Without a default_bucket_key
  // the largest saved key is the default. The buckets whose symbols were saved use those; sym_gen,
  // if given, makes the others.
  //
  // With a sym_gen and a default_bucket_key the files of keys and symbols may be missing, as
  // mx.callback.do_checkpoint leaves them out: sym_gen then makes all buckets. With
  // load_optimizer_states prefix-0003.states is read by InitOptimizer.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> Load(const std::string& prefix, int epoch,
                                                               BucketingModuleOptions options,
                                                               bool load_optimizer_states = false);

  // A module from symbols and parameters in memory; `options.sym_gen` may be empty, and gives the
  // names of data and labels where it is not.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> LoadDict(
      std::map<BucketKey, BucketSymbol> symbols, BucketingModuleOptions options,
      const ModuleParams& params);

  // Writes prefix-0003.params, prefix-KEY-symbol.json for every bucket seen so far or loaded, and
  // prefix.buckets with those keys that are 32-bit integers, as MXNet 1.9 does. prefix.bucket_keys
  // has the keys of every kind, one a line; MXNet does not read it. kInvalidArgument, before
  // anything is written, if a key cannot be part of a file name or two have the same one (10 and
  // "10"). With save_optimizer_states also prefix-0003.states, in cooper's own format, which
  // MXNet's BucketingModule does not have.
  absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                              bool save_optimizer_states = false) const override;

  // The current bucket's; before Bind the default one's.
  absl::StatusOr<Symbol> symbol() const override;
  const std::vector<std::string>& data_names() const override;
  const std::vector<std::string>& label_names() const override;
  std::vector<std::string> output_names() const override;
  const std::vector<DataDesc>& data_shapes() const override;
  const std::vector<DataDesc>& label_shapes() const override;
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;
  std::vector<BatchLayout> output_layouts() const override;

  bool params_initialized() const override { return group_->parameters().initialized(); }
  bool optimizer_initialized() const override { return group_->updater() != nullptr; }

  // Binds the default bucket. Binding again with force_rebind drops all buckets and keeps the
  // parameters.
  absl::Status Bind(const ModuleBindOptions& options) override;
  const ModuleBindOptions* bind_options() const override {
    return binded_ ? &bind_options_ : nullptr;
  }

  // Makes `key` the current bucket, binding it first if it is new. Parameters that no earlier
  // bucket had get their values as InitParams said; kFailedPrecondition, naming key and parameter,
  // if it gave none.
  absl::Status SwitchBucket(const BucketKey& key, const std::vector<DataDesc>& data_shapes,
                            const std::vector<DataDesc>& label_shapes);
  // Binds buckets up front; the current one stays. A report per bucket, in the order given. The
  // buckets before the first one that cannot be bound stay bound, and the error is that bucket's.
  //
  // With one context, and without group2ctxs, symbols become programs on NumThreads() threads at a
  // time (of max_bound_buckets buckets, where that is set), sym_gen being called for one key after
  // the other meanwhile, ahead of the binding of those before. Then arrays are made and parameters
  // get their values in the order given: all but bind_seconds is as if one were bound after the
  // other.
  absl::StatusOr<std::vector<BucketReport>> PrepareAll(absl::Span<const BucketShapes> buckets);

  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  // The union over all buckets that were bound, or that Load or RestoreTraining knows: values of
  // these, too, that still wait for their bucket.
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;

  // Switches to the batch's bucket and stays there. A batch without a key is the current bucket's.
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  // In the batch's bucket, bound without gradients in the same arena; buckets that only evaluate
  // are never bound for training. The current bucket stays.
  absl::Status ForwardToEvaluate(const DataBatch& batch) override;
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) override;
  absl::Status ForwardBackward(const DataBatch& batch) override;
  absl::Status TrainStep(const DataBatch& batch) override;
  absl::Status Update() override;
  absl::StatusOr<int> JoinUpdate() override;
  absl::Status ZeroGrads() override { return group_->parameters().ZeroGrads(); }
  std::shared_ptr<KVStore> kvstore() const override { return group_->parameters().kvstore(); }

  absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const override;
  absl::StatusOr<std::vector<NDArray>> GetInputGrads() const override;
  absl::StatusOr<NDArray> GetGrad(const std::string& name) const override;
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) override;

  absl::StatusOr<std::vector<NDArray>> GetStates() const override;
  absl::Status SetStates(absl::Span<const NDArray> states) override;
  absl::Status SetStates(double value) override;

  // Binds the batch's bucket; the current one stays.
  absl::Status Prepare(const DataBatch& batch) override;
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;
  std::function<absl::Status()> MonitorRestorer() override {
    return
        [this, callback = monitor_, all = monitor_all_] { return InstallMonitor(callback, all); };
  }

  absl::Status PrepareToTakeBack() override;
  absl::Status TakeBackBatch() override;
  absl::Status CheckFinite() override;
  absl::Status CheckParamsFinite() const override;
  absl::Status AverageContexts() override;

  const BucketKey& default_bucket_key() const { return default_key_; }
  // kFailedPrecondition before Bind.
  absl::StatusOr<BucketKey> current_bucket_key() const;
  // Buckets that are bound now, in order of key; those that are bound for evaluation alone have no
  // `memory`.
  std::vector<BucketReport> Report() const;
  // Bytes of the arena that all buckets share: the largest plan so far. Of several contexts, all
  // their arenas.
  int64_t arena_bytes() const { return group_->arena_bytes(); }
  const std::shared_ptr<ModuleGroup>& group() const override { return group_; }
  // What all buckets hold that are bound now: the sum that max_bound_bytes bounds.
  int64_t held_bytes() const;
  // The bucket's module; null if it is not bound.
  Module* bucket(const BucketKey& key) const;
  // The one that Score and Predict use of a module that is bound for training; null if it is not
  // bound.
  Module* evaluation_bucket(const BucketKey& key) const;

 private:
  struct Bucket {
    std::unique_ptr<Module> module;
    double bind_seconds = 0;
    uint64_t last_use = 0;
  };
  using Buckets = std::map<BucketKey, Bucket>;

  // A bucket that is not bound yet.
  struct Made {
    BucketSymbol generated;
    absl::StatusOr<std::unique_ptr<Module>> module;
    double seconds = 0;  // so far
  };

  explicit BucketingModule(BucketingModuleOptions options);

  // What waits for buckets that were loaded, or bound by a run before this one; not copied.
  absl::StatusOr<ModuleParams> Waiting() const;
  // kInvalidArgument, naming it, for a name that GetParams would not give.
  absl::Status CheckKnown(const ArrayMap& arg_params, const ArrayMap& aux_params) const;
  absl::StatusOr<BucketSymbol> Generate(const BucketKey& key) const;
  // The symbol and its module. Errors are in the result.
  Made Make(const BucketKey& key) const;
  ModuleBindOptions BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                   const std::vector<DataDesc>& label_shapes,
                                   bool evaluation = false) const;
  // The buckets of these that are not bound, up to the first that cannot be made, compiled on
  // several threads. Empty where that is of no use.
  std::map<BucketKey, Made> MakeAhead(absl::Span<const BucketShapes> buckets) const;
  // Binds the default bucket, where none is bound.
  absl::Status BindDefault(const ModuleBindOptions& options);
  // The bucket, bound; makes it where it is neither bound nor in `ahead`, from which it is taken.
  absl::StatusOr<Bucket*> FindOrBind(const BucketKey& key, const std::vector<DataDesc>& data_shapes,
                                     const std::vector<DataDesc>& label_shapes,
                                     std::map<BucketKey, Made>* ahead = nullptr);
  // The same in `buckets`, which may be those for evaluation.
  absl::StatusOr<Bucket*> FindOrBindIn(Buckets& buckets, const BucketKey& key,
                                       const std::vector<DataDesc>& data_shapes,
                                       const std::vector<DataDesc>& label_shapes,
                                       std::map<BucketKey, Made>* ahead);
  static absl::Status CheckOptions(const BucketingModuleOptions& options);
  // Unbinds the buckets used longest ago, but neither the current one nor the one that evaluates,
  // until there are no more than the options allow with one of `bytes` to come, if `one_comes`.
  void Evict(bool one_comes, int64_t bytes = 0);
  // The module that gave the last outputs; null before Bind.
  const Module* shown_module() const;
  Module* shown_module() {
    return const_cast<Module*>(static_cast<const BucketingModule*>(this)->shown_module());
  }
  // Makes the bucket of a batch the current one, which is about to be used.
  absl::Status UseBucketOf(const DataBatch& batch);
  absl::Status WithBucket(const absl::Status& status, const BucketKey& key) const;
  // Which bucket has a parameter of that name, for errors: "bucket key 10".
  std::string OwnerOf(const std::string& parameter) const;

  SymGen sym_gen_;
  BucketKey default_key_;
  int max_bound_buckets_;
  int64_t max_bound_bytes_;
  std::shared_ptr<ModuleGroup> group_;
  ModuleOptions module_options_;    // of every bucket, which brings names of data and labels
  Buckets buckets_;                 // as Bind was asked
  Buckets evaluation_buckets_;      // without gradients, where that is for training
  std::set<BucketKey> were_bound_;  // whose parameters have arrays
  std::map<BucketKey, BucketSymbol> loaded_symbols_;  // from a checkpoint
  std::optional<BucketKey> current_key_;
  Bucket* current_ = nullptr;
  Bucket* evaluated_ = nullptr;  // the bucket of the last batch, if it was evaluated
  ModuleBindOptions bind_options_;
  Executor::MonitorCallback monitor_;
  bool monitor_all_ = false;
  uint64_t uses_ = 0;
  mutable std::optional<BucketSymbol> default_symbol_;  // for names before Bind
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_
