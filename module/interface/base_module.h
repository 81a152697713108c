#ifndef COOPER_MODULE_INTERFACE_BASE_MODULE_H_
#define COOPER_MODULE_INTERFACE_BASE_MODULE_H_

// The interface of every module: it is bound to shapes, gets parameters and an optimizer, and then
// computes and learns batch by batch. The loops Fit, Score and Predict build on it. The calls
// follow in this order; a call that comes too early fails with kFailedPrecondition, naming the
// missing call:
//
//   Bind -> InitParams -> InitOptimizer -> Forward / Backward / Update
//
// MXNet: python/mxnet/module/base_module.py.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/eval_metric.h"
#include "module/options/module_options.h"
#include "module/options/parameter_options.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

class Learner;
class ModuleGroup;
class BaseModule;

// Options of BaseModule::Score.
struct ScoreOptions {
  int64_t num_batch = -1;  // -1: the whole epoch
  bool reset = true;       // HardReset the iterator first
  int epoch = 0;           // for callbacks
  std::vector<BatchEndCallback> batch_end_callbacks;
  std::vector<BatchEndCallback> score_end_callbacks;
  // Whether rows of padding (DataBatch::pad) count in the metric, as in MXNet.
  bool count_padding = true;
};

// Options of IterPredict, Predict and PredictBatches; num_batch and reset as in ScoreOptions.
struct PredictOptions {
  int64_t num_batch = -1;
  bool reset = true;
  // Whether Predict returns samples in the order of their ids (DataBatch::index), which is the
  // input's order whatever order the iterator serves. A sample's several rows on an output's batch
  // axis, as where axes are merged ((batch_size * length, classes), step by step or sample by
  // sample), are put together. Outputs without samples stay in the iterator's order. Where the
  // network cannot tell which rows belong to which sample (a FunctionModule's), one batch of each
  // bucket (at most three) is computed twice to find out. False: everything stays in the iterator's
  // order, as in MXNet.
  bool input_order = true;
  // If not null, receives the sample's id for each index of the batch axis of the first output that
  // has one: the same id several times where a sample has several rows. It stays empty if there is
  // no such output or the batches have no ids. With `ids`, Predict accepts an iterator that leaves
  // samples out (DataIter::unused_samples), because the ids say which samples have rows.
  std::vector<int64_t>* ids = nullptr;
};

// Options of BaseModule::Fit.
struct FitOptions {
  DataIter* eval_data = nullptr;            // not owned; null: no validation
  EvalMetric* eval_metric = nullptr;        // not owned; null: accuracy
  EvalMetric* validation_metric = nullptr;  // not owned; null: eval_metric
  std::vector<EpochEndCallback> epoch_end_callbacks;
  std::vector<BatchEndCallback> batch_end_callbacks;
  std::vector<BatchEndCallback> eval_end_callbacks;
  std::vector<BatchEndCallback> eval_batch_end_callbacks;
  // Whether the validation counts rows of padding as well, as in MXNet; then some samples count
  // twice.
  bool validation_counts_padding = false;
  // Receives the lines that MXNet's fit writes after an epoch, "Epoch[0] Train-accuracy=0.500000",
  // "Epoch[0] Time cost=1.234" and "Epoch[0] Validation-accuracy=0.500000". Null: no lines.
  LogLine progress = LogInfo;
  BaseMonitor* monitor = nullptr;  // not owned; null: none. Sees training, not validation.
  // Called after `batches_done` batches of the epoch are trained on, before the next one, if any,
  // is fetched: at this moment the iterator is where the model is (CaptureTraining). With several
  // processes, a process whose data has ended also calls it after each update of the others. An
  // error ends the training.
  std::function<absl::Status(int epoch, int64_t batches_done)> capture_point;
  // SIGINT (Ctrl-C) and SIGTERM end the training after the batch, with kCancelled; stop_point is
  // called first, to save the state. A second signal ends the process as usual.
  bool stop_on_signal = false;
  std::function<absl::Status(int epoch, int64_t batches_done)> stop_point;
  // Called when the training ends without an error, for whatever reason; Fit returns its status. A
  // Checkpointer waits there until the last state is written.
  std::function<absl::Status()> end_point;
  InitOptimizerOptions optimizer;
  InitParamsOptions params;
  WriteReq grad_req = WriteReq::kWrite;
  // Adds up the gradients of this many batches, from any buckets, before each update; the batches
  // left at the end of an epoch get an update of their own. Above 1, grad_req becomes kAdd, and
  // capture_point is called only after updates, including those at the ends of epochs. A module
  // bound otherwise is bound again with kAdd and the same options (a parameter whose grad_reqs is
  // kNull stays so) and keeps its parameters; the next Fit without accumulation binds it back.
  int accumulate_batches = 1;
  bool force_rebind = false;
  // Checks each batch's gradients and small losses before the update, and the parameters after an
  // epoch. A NaN or infinite value ends the training with kOutOfRange, naming the batch, its bucket
  // key and the node that computed the first such value. The module is then as it was before the
  // batch: no update is made and the auxiliary states are restored; only random streams have
  // advanced. Costs one pass over the gradients (docs/training.md).
  bool check_finite = true;
  // Checks the ids of words and classes in each batch of the first epoch, before the update:
  // kOutOfRange, naming input, row, value and operator, for an id that the network does not have
  // (kernels would use the nearest word, or no class). Rows of padding, elements past a row's
  // length, a label that the loss ignores and the iterator's invalid_label are accepted
  // (check_ids.h). Costs one pass over the ids (docs/training.md). False: trains on such ids.
  bool check_ids = true;
  // ModuleBindOptions::seed where Fit binds; a module that is already bound continues its stream.
  // Also the seed of initial values, unless `params` has one.
  std::optional<uint64_t> seed;
  int begin_epoch = 0;
  int num_epoch = 0;  // required
  // Batches of the first epoch that are already done: for a run resumed within an epoch, whose
  // iterator and metric LoadTrainingState has restored.
  int64_t begin_batch = 0;
};

// Returns the options with which Fit binds, creates the optimizer and initializes parameters, with
// its accumulate_batches and seed applied: for a run that is restored before Fit (see BindToFit).
ModuleBindOptions BindOptionsForFit(const DataIter& train_data, const FitOptions& options);
InitOptimizerOptions OptimizerOptionsForFit(const FitOptions& options);
InitParamsOptions ParamsOptionsForFit(const FitOptions& options);

// The steps of TrainStep after Forward and Backward.
struct StepOptions {
  // Runs CheckFinite. A batch that fails it is not learnt from.
  bool check_finite = false;
  bool update = true;
};

// See the top of the file. Not thread-safe.
class BaseModule {
 public:
  virtual ~BaseModule() = default;

  bool binded() const { return binded_; }
  virtual bool params_initialized() const = 0;
  virtual bool optimizer_initialized() const = 0;
  bool for_training() const { return for_training_; }
  bool inputs_need_grad() const { return inputs_need_grad_; }
  // The request of parameters' gradients, as bound.
  WriteReq grad_req() const { return grad_req_; }
  // The options of the last Bind (KeptOptions); null before Bind, and for kinds of modules that
  // have no gradients of their own.
  virtual const ModuleBindOptions* bind_options() const { return nullptr; }

  // The modules that this one consists of, in the order in which they compute; by default itself.
  virtual std::vector<const BaseModule*> parts() const { return {this}; }

  // The key of the bucket that Bind binds; nullopt if the module has no buckets.
  virtual std::optional<BucketKey> default_bucket_key() const { return std::nullopt; }

  // Names are known after construction, shapes after Bind.
  virtual absl::StatusOr<Symbol> symbol() const = 0;
  virtual const std::vector<std::string>& data_names() const = 0;
  virtual const std::vector<std::string>& label_names() const = 0;
  virtual std::vector<std::string> output_names() const = 0;
  virtual const std::vector<DataDesc>& data_shapes() const = 0;
  virtual const std::vector<DataDesc>& label_shapes() const = 0;
  virtual std::vector<std::pair<std::string, Shape>> output_shapes() const = 0;
  // Where the samples of a batch are in each output of the last Forward or ForwardToEvaluate; empty
  // if the module has no graph that tells.
  virtual std::vector<BatchLayout> output_layouts() const { return {}; }

  virtual absl::Status Bind(const ModuleBindOptions& options) = 0;

  // Gives every parameter and auxiliary state a value; does nothing to an initialized module
  // without force_init. kInvalidArgument, naming it, if a parameter is missing in the given maps
  // (without allow_missing) or has another shape; nothing is changed then.
  virtual absl::Status InitParams(const InitParamsOptions& options = {}) = 0;
  // Returns copies of all parameters and auxiliary states in CPU memory.
  virtual absl::StatusOr<ModuleParams> GetParams() const = 0;
  // Like MXNet: without allow_missing the same as InitParams; with it, names that are not
  // parameters fail unless allow_extra is set. An error in names or shapes changes nothing.
  virtual absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                 const SetParamsOptions& options = {}) = 0;
  virtual absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) = 0;

  // Computes the outputs. `is_train` absent: as bound. A batch with other shapes than the bound
  // ones reshapes the module. kInvalidArgument, naming bucket and input, for a batch that does not
  // fit.
  virtual absl::Status Forward(const DataBatch& batch,
                               std::optional<bool> is_train = std::nullopt) = 0;
  // Computes the outputs like Forward with is_train false, for Score and Predict. A module bound
  // for training uses a separate plan without gradients, over the same parameters and in the same
  // memory. Outputs, metrics and shapes are then this batch's until the next Forward; Backward and
  // Update still refer to the batch that was trained on.
  virtual absl::Status ForwardToEvaluate(const DataBatch& batch) {
    return Forward(batch, /*is_train=*/false);
  }
  // Computes gradients. Takes one head gradient per output, or none if all outputs are losses.
  virtual absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) = 0;
  virtual absl::Status Update() = 0;
  // The group whose parameters and devices the module uses (module_group.h); null for a module that
  // consists of other modules or has no parameters.
  virtual const std::shared_ptr<ModuleGroup>& group() const;
  // The learners of the modules that this one consists of (parts), which own gradients and
  // optimizer states: none for a module without parameters. Valid until a part is bound again.
  std::vector<Learner*> learners() const;
  // Forward in training, then Backward, for a network whose outputs are losses, and then, as the
  // options say, CheckFinite and Update. By default calls these. On a GPU the passes are one launch
  // (Executor::ForwardBackward); the check is part of it, or, without a check, a Module on one GPU
  // makes the update part of it if only the optimizer takes part in the update (no key-value store,
  // no clipping by the global norm).
  virtual absl::Status TrainStep(const DataBatch& batch, const StepOptions& options = {});
  // TrainStep without an update.
  absl::Status ForwardBackward(const DataBatch& batch) {
    return TrainStep(batch, {.update = false});
  }

  // Valid until the next Forward of any module that shares memory with this one.
  virtual absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const = 0;
  // The gradients of the data, in the order of data_shapes. kFailedPrecondition unless bound with
  // inputs_need_grad.
  virtual absl::StatusOr<std::vector<NDArray>> GetInputGrads() const = 0;
  // The gradient of a parameter after the last Backward. kNotFound if it has none.
  virtual absl::StatusOr<NDArray> GetGrad(const std::string& name) const = 0;
  virtual absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) = 0;

  // Arguments that are neither data nor parameters and persist from batch to batch.
  virtual absl::StatusOr<std::vector<NDArray>> GetStates() const = 0;
  virtual absl::Status SetStates(absl::Span<const NDArray> states) = 0;
  virtual absl::Status SetStates(double value) = 0;

  // Prepares for a batch that comes later, without changing outputs.
  virtual absl::Status Prepare(const DataBatch& batch) = 0;
  virtual absl::Status InstallMonitor(Executor::MonitorCallback callback,
                                      bool monitor_all = false) = 0;
  // Returns a function that reinstalls the current monitor; it must not outlive the module.
  virtual std::function<absl::Status()> MonitorRestorer() {
    return [this, call = monitor_, all = monitor_all_] { return InstallMonitor(call, all); };
  }

  // Called after Backward: kOutOfRange, naming it, if a loss (an output of at most 65,536 elements)
  // or the gradient of a parameter has an element that is NaN or infinite.
  // The default implementation finds nothing.
  virtual absl::Status CheckFinite() { return absl::OkStatus(); }

  // Calls on all learners, in the order in which their modules compute.
  //
  // Overwrites the gradients of all parameters with zeros.
  absl::Status ZeroGrads();
  // Checks parameters and auxiliary states as CheckFinite does losses.
  absl::Status CheckParamsFinite() const;
  // Gives all contexts the same values, those that GetParams returns; Fit calls it at the end of
  // each epoch. Does nothing on one context.
  absl::Status AverageContexts();
  // Takes part in an update of the other processes without a batch of its own, and returns how many
  // processes had a batch. With a store over several processes, each process calls Update or
  // JoinUpdate for every step until no process has a batch left (Fit does). Without such a store
  // returns 0.
  absl::StatusOr<int> JoinUpdate();
  // The store that sums gradients, that of the first learner that has one; null if there is none.
  // If the store has another optimizer at an update, the module gives it its own again, or removes
  // it.
  std::shared_ptr<KVStore> kvstore() const;

  // Writes MXNet's checkpoint files in the format of the kind of module (Module, BucketingModule);
  // with save_optimizer_states also prefix-0003.states. kUnimplemented, saying what to save
  // instead, for a module without a symbol of its own.
  virtual absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                                      bool save_optimizer_states = false) const;
  // Write and read parameter files with the names arg:NAME and aux:NAME.
  absl::Status SaveParams(const std::string& path) const;
  absl::Status LoadParams(const std::string& path);

  // Binds in the same way as Fit, which then has nothing to change: for a run that is restored
  // before Fit.
  absl::Status BindToFit(const DataIter& train_data, const FitOptions& options);

  // Trains for epochs [begin_epoch, num_epoch): binds, initializes and creates the optimizer where
  // that has not been done, then for each batch computes, updates and feeds the metric. The next
  // batch is fetched after the metric is fed, as in MXNet. A callback that returns false ends the
  // training with an OK status after the batch (for the callbacks of an epoch and its validation:
  // after that). Logs a warning about samples that no batch ever holds (DataIter::unused_samples)
  // and about samples that roll over from the last epoch.
  //
  // With a store over several processes all of them have to call Fit: an epoch lasts until the last
  // process has used up its data, and a callback of one process ends the training of all.
  //
  // Errors: kInvalidArgument if train_data or eval_data has no batch after Reset.
  absl::Status Fit(DataIter& train_data, const FitOptions& options);

  // Returns the metric's names and values over `eval_data`, computed with is_train false.
  absl::StatusOr<std::vector<std::pair<std::string, double>>> Score(
      DataIter& eval_data, EvalMetric& metric, const ScoreOptions& options = {});

  // Calls `visit` with copies of the outputs of each batch, without the batch's last `pad` samples.
  // (MXNet drops as many rows of the first axis, whatever it is.) kInvalidArgument, naming the
  // output, if a batch has padding and it is unknown where an output has its samples.
  absl::Status IterPredict(DataIter& eval_data,
                           absl::FunctionRef<absl::Status(const std::vector<NDArray>& outputs,
                                                          int64_t nbatch, const DataBatch& batch)>
                               visit,
                           const PredictOptions& options = {});

  // Returns the outputs of all batches, joined on their batch axis and without padding: one array
  // per output, samples in the input's order (PredictOptions::input_order). An output without
  // samples, such as a mean, has the values of all batches along its first axis, including padded
  // batches.
  //
  // Errors: kInvalidArgument if the batches' outputs differ in another axis (as buckets' may); if
  // it is unknown to which sample rows belong; or, without num_batch and ids, if the iterator
  // serves some samples in no batch although it was not asked to leave them out
  // (UnusedSamples::by_request), since they would have no row.
  absl::StatusOr<std::vector<NDArray>> Predict(DataIter& eval_data,
                                               const PredictOptions& options = {});
  // Returns the outputs of each batch separately, without rows of padding: batches[i][k] is output
  // k of batch i, in the iterator's order (PredictOptions::input_order and ids are ignored). For
  // outputs that differ in other axes than the first, as buckets' may. MXNet:
  // predict(merge_batches=False).
  absl::StatusOr<std::vector<std::vector<NDArray>>> PredictBatches(
      DataIter& eval_data, const PredictOptions& options = {});
  // Returns copies of the outputs for `data` as the only batch. Any number of rows, as for Forward.
  absl::StatusOr<std::vector<NDArray>> Predict(const NDArray& data);

 protected:
  // Each returns kFailedPrecondition, naming the missing call, unless the module is in that state.
  absl::Status RequireBound(const char* call) const;
  absl::Status RequireParams(const char* call) const;
  absl::Status RequireOptimizer(const char* call) const;

  bool binded_ = false;
  bool for_training_ = false;
  bool inputs_need_grad_ = false;
  WriteReq grad_req_ = WriteReq::kWrite;
  Executor::MonitorCallback monitor_;  // the last of InstallMonitor
  bool monitor_all_ = false;

 private:
  // Calls `call` on one learner after the other, up to the first error, which names the part.
  absl::Status EachLearner(absl::FunctionRef<absl::Status(Learner&)> call) const;

  bool fit_accumulation_ = false;  // whether Fit has bound for gradients that accumulate
};

}  // namespace cooper

#endif  // COOPER_MODULE_INTERFACE_BASE_MODULE_H_
