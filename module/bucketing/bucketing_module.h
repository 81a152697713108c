#ifndef COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_
#define COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_

// Trains networks whose inputs have no fixed size: `sym_gen` makes one symbol per bucket key, and
// batches switch between the buckets. All buckets share parameters, gradients, auxiliary states and
// optimizer states by name. They also share one arena, as large as the largest bucket's plan,
// whatever the default key and the order and number of buckets. MXNet:
// python/mxnet/module/bucketing_module.py.
//
//   COOPER_ASSIGN_OR_RETURN(auto model, BucketingModule::Create(
//       {.sym_gen = sym_gen, .default_bucket_key = iter->default_bucket_key()}));
//   COOPER_RETURN_IF_ERROR(model->Fit(*iter, {.num_epoch = 25}));

#include <cstdint>
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
#include "io/batch/data_iter.h"
#include "module/bucketing/bound_buckets.h"
#include "module/interface/base_module.h"
#include "module/network/module.h"
#include "module/options/module_options.h"
#include "module/options/sym_gen.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Options of BucketingModule::Create, Load and LoadDict.
struct BucketingModuleOptions {
  // Called with the default key when the module is created, and with another key, or after eviction
  // or a forced Bind, when the key is bound. Automatic names start anew in each call, so that they
  // are equal for all keys. Runs on the caller's thread, while none of the buckets is being
  // changed. Reading a key as the wrong kind (BucketKey::int_value of a string) is
  // kInvalidArgument, naming that key and the default one.
  SymGen sym_gen;
  // The bucket that Bind binds. Any key may be the default one.
  std::optional<BucketKey> default_bucket_key;
  ComputeOptions compute;
  // At most this many buckets stay bound (Prepare may add one to the current bucket); the least
  // recently used one is evicted for a new one. Its parameters stay in the module: bound again it
  // computes the same bits. A bucket bound for training and for evaluation counts twice. 0: no
  // limit.
  int max_bound_buckets = 0;
  // At most this many bytes are held by all bound buckets together (BucketReport::footprint_bytes,
  // which excludes parameters and the arena: eviction frees neither). The current bucket stays
  // bound whatever it holds. 0: no limit.
  int64_t max_bound_bytes = 0;
};

// See the top of the file. Not thread-safe.
class BucketingModule : public BaseModule {
 public:
  // Errors: kInvalidArgument if sym_gen or default_bucket_key is missing; those of sym_gen for the
  // default key, which the message names.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> Create(BucketingModuleOptions options);

  // Returns a module with the parameters of SaveCheckpoint, ready for Bind. Without a
  // default_bucket_key the largest saved key is the default. Buckets whose symbols were saved use
  // these; sym_gen, if given, makes the others.
  //
  // With a sym_gen and a default_bucket_key the files of keys and symbols may be missing, as after
  // mx.callback.do_checkpoint: sym_gen then makes all buckets. With load_optimizer_states,
  // InitOptimizer reads prefix-0003.states.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> Load(const std::string& prefix, int epoch,
                                                               BucketingModuleOptions options,
                                                               bool load_optimizer_states = false);

  // Returns a module from symbols and parameters in memory. options.sym_gen may be empty; otherwise
  // it gives the names of data and labels.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> LoadDict(
      std::map<BucketKey, BucketSymbol> symbols, BucketingModuleOptions options,
      const ModuleParams& params);

  // Writes prefix-0003.params, prefix-KEY-symbol.json for every bucket that was bound or loaded,
  // and, as MXNet 1.9 does, prefix.buckets with the keys that are 32-bit integers.
  // prefix.bucket_keys has the keys of every kind, one per line; MXNet does not read it. With
  // save_optimizer_states also writes prefix-0003.states in cooper's own format, which MXNet's
  // BucketingModule does not have.
  //
  // Errors: kInvalidArgument, before anything is written, if a key cannot be part of a file name or
  // two keys have the same file name (10 and "10").
  absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                              bool save_optimizer_states = false) const override;

  // Properties of the current bucket; before Bind, of the default bucket.
  absl::StatusOr<Symbol> symbol() const override;
  ModuleDescription description() const override;
  std::vector<BatchLayout> output_layouts() const override;

  // Binds the default bucket. Binding again with force_rebind drops all buckets and keeps the
  // parameters. On an error the previous bound state stays.
  absl::Status Bind(const ModuleBindOptions& options) override;

  // Makes `key` the current bucket and binds it first if it is new. Parameters that no other bucket
  // has get their values as InitParams was told; kFailedPrecondition, naming key and parameter, if
  // InitParams left no way to fill them.
  absl::Status SwitchBucket(const BucketKey& key, const std::vector<DataDesc>& data_shapes,
                            const std::vector<DataDesc>& label_shapes);
  // Binds buckets up front; the current bucket stays current. Returns one report per bucket, in the
  // given order. On an error the buckets before the failing one stay bound.
  //
  // With one context and without group2ctxs, NumThreads() threads compile programs at the same time
  // (of max_bound_buckets buckets, where that is set). sym_gen is called meanwhile on the caller's
  // thread, for one key after the other. Then arrays are allocated and parameters initialized in
  // the given order, so all but bind_seconds is the same as binding one bucket after the other.
  absl::StatusOr<std::vector<BucketReport>> PrepareAll(absl::Span<const BucketShapes> buckets);

  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  // Returns the union over all buckets that were bound, or that Load or RestoreTraining knows,
  // including values that still wait for their bucket to be bound.
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;

  // Switches to the batch's bucket and stays there. A batch without a key uses the current bucket.
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  // Runs the batch's bucket, bound without gradients in the same arena. Buckets that only evaluate
  // are never bound for training. The current bucket stays current.
  absl::Status ForwardToEvaluate(const DataBatch& batch) override;
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) override;
  absl::Status TrainStep(const DataBatch& batch, const StepOptions& options = {}) override;
  absl::Status Update() override;

  absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const override;
  absl::StatusOr<std::vector<NDArray>> GetInputGrads() const override;
  absl::StatusOr<NDArray> GetGrad(const std::string& name) const override;
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) override;

  absl::StatusOr<std::vector<NDArray>> GetStates() const override;
  absl::Status SetStates(absl::Span<const NDArray> states) override;
  absl::Status SetStates(double value) override;

  // Binds the batch's bucket; the current bucket stays current.
  absl::Status Prepare(const DataBatch& batch) override;
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;

  absl::Status CheckFinite() override;

  // kFailedPrecondition before Bind.
  absl::StatusOr<BucketKey> current_bucket_key() const;
  // Returns a report for each bound bucket, in order of key. Buckets bound only for evaluation have
  // an empty `memory`.
  std::vector<BucketReport> Report() const { return buckets_.Report(); }
  // Returns the state that all buckets share. group()->arena_bytes() is the largest plan so far,
  // summed over contexts.
  const std::shared_ptr<ModuleGroup>& group() const override { return group_; }
  // Bytes that all bound buckets hold together: the sum that max_bound_bytes limits.
  int64_t footprint_bytes() const { return buckets_.footprint_bytes(); }
  // The bucket's module, owned by this object; null if it is not bound. Valid until the bucket is
  // evicted.
  Module* bucket(const BucketKey& key) const { return buckets_.FindModule(Purpose::kBound, key); }
  // The same for the module that Score and Predict use while the buckets are bound for training.
  Module* evaluation_bucket(const BucketKey& key) const {
    return buckets_.FindModule(Purpose::kEvaluation, key);
  }

 private:
  using Purpose = BoundBuckets::Purpose;

  // A bucket with its symbol and module, not bound yet.
  struct UnboundBucket {
    BucketSymbol generated;
    absl::StatusOr<std::unique_ptr<Module>> module;
    std::shared_ptr<const CompiledProgram> compiled;  // null: Bind compiles
    double seconds = 0;                               // so far
  };

  explicit BucketingModule(BucketingModuleOptions options);

  // Parameters that wait for buckets that were loaded, or that an earlier run has bound; shared,
  // not copied.
  absl::StatusOr<ModuleParams> Waiting() const;
  // kInvalidArgument, naming it, for a name that GetParams would not return.
  absl::Status CheckKnown(const ArrayMap& arg_params, const ArrayMap& aux_params) const;
  absl::StatusOr<BucketSymbol> Generate(const BucketKey& key) const;
  // Generates the symbol and creates its module. Errors are in the result.
  UnboundBucket Make(const BucketKey& key) const;
  ModuleBindOptions BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                   const std::vector<DataDesc>& label_shapes,
                                   Purpose purpose) const;
  // Creates the given buckets that are not bound, up to the first that fails, and compiles them on
  // several threads. Returns an empty map where that is of no use.
  std::map<BucketKey, UnboundBucket> CompileBuckets(absl::Span<const BucketShapes> buckets) const;
  // Binds the default bucket when no bucket is bound.
  absl::Status BindDefault(const ModuleBindOptions& options);
  // Returns the bound bucket, marked as used. Takes an unbound one from `precompiled` if it is
  // there, else creates it.
  absl::StatusOr<BoundBuckets::Bucket*> FindOrBind(
      const BucketKey& key, const std::vector<DataDesc>& data_shapes,
      const std::vector<DataDesc>& label_shapes, Purpose purpose = Purpose::kBound,
      std::map<BucketKey, UnboundBucket>* precompiled = nullptr);
  static absl::Status CheckOptions(const BucketingModuleOptions& options);
  // Sets default_symbol_.
  absl::Status GenerateDefault();
  // The module that computed the last outputs; null before Bind.
  Module* active_module() const {
    return buckets_.active() == nullptr ? nullptr : buckets_.active()->module.get();
  }
  // Makes the bucket of a batch the current one and marks it as used.
  absl::Status UseBucketOf(const DataBatch& batch);
  absl::Status WithBucket(const absl::Status& status, const BucketKey& key) const;
  // Describes a bucket that has a parameter of that name, for errors: "bucket key 10".
  std::string OwnerOf(const std::string& parameter) const;

  SymGen sym_gen_;
  BucketKey default_key_;
  int max_bound_buckets_;
  int64_t max_bound_bytes_;
  ComputeOptions compute_;
  std::shared_ptr<ModuleGroup> group_;
  BoundBuckets buckets_;
  std::set<BucketKey> were_bound_;                    // buckets whose parameters have arrays
  std::map<BucketKey, BucketSymbol> loaded_symbols_;  // from a checkpoint
  std::optional<BucketKey> current_key_;
  BucketSymbol default_symbol_;                    // for names before Bind, and for the first Bind
  std::vector<std::string> default_output_names_;  // the outputs of default_symbol_
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BUCKETING_MODULE_H_
