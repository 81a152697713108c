#ifndef COOPER_MODULE_INTERFACE_BASE_MODULE_H_
#define COOPER_MODULE_INTERFACE_BASE_MODULE_H_

// What every module can do: be bound to shapes, get parameters, be given an optimizer, and then run
// and learn batch by batch; and on top of that, the loops Fit, Score and Predict. The states follow
// in this order, and a call that comes too early fails with kFailedPrecondition that names the call
// which is missing:
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

class ModuleGroup;
class BaseModule;

struct ScoreOptions {
  int64_t num_batch = -1;  // -1: the whole epoch
  bool reset = true;       // the iterator first, by HardReset
  int epoch = 0;           // for callbacks
  std::vector<BatchEndCallback> batch_end_callbacks;
  std::vector<BatchEndCallback> score_end_callbacks;
  // Whether rows of padding (DataBatch::pad) count in the metric, as in MXNet.
  bool count_padding = true;
};

struct PredictOptions {
  int64_t num_batch = -1;
  bool reset = true;
  // Whether Predict gives samples in the order of their ids (DataBatch::index), which is the
  // input's, whatever order the iterator goes in, where batches have ids. What a sample has along
  // an output's batch axis, several rows where axes are merged ((batch_size * length, classes),
  // step by step or sample by sample), comes together. Outputs without samples stay in the
  // iterator's order. Where the network cannot tell which rows are whose (a FunctionModule's), for
  // each bucket one batch (at the most three) is computed twice to find out. False: all stay in the
  // iterator's order, as MXNet's.
  bool input_order = true;
  // If not null, it gets the sample's id for each index of the batch axis of the first output that
  // has one: several times where a sample has several rows. None where there is no such output or
  // the batches have no ids. With it Predict takes an iterator that leaves samples out
  // (DataIter::unused_samples), since it says whose rows there are.
  std::vector<int64_t>* ids = nullptr;
};

struct FitOptions {
  DataIter* eval_data = nullptr;            // not owned; null: no validation
  EvalMetric* eval_metric = nullptr;        // not owned; null: accuracy
  EvalMetric* validation_metric = nullptr;  // not owned; null: eval_metric
  std::vector<EpochEndCallback> epoch_end_callbacks;
  std::vector<BatchEndCallback> batch_end_callbacks;
  std::vector<BatchEndCallback> eval_end_callbacks;
  std::vector<BatchEndCallback> eval_batch_end_callbacks;
  // Whether the validation counts rows of padding too, as MXNet's does, and so some samples twice.
  bool validation_counts_padding = false;
  // Takes the lines that MXNet's fit writes after an epoch, "Epoch[0] Train-accuracy=0.500000",
  // "Epoch[0] Time cost=1.234" and "Epoch[0] Validation-accuracy=0.500000". Null: no lines.
  LogLine progress = LogInfo;
  BaseMonitor* monitor = nullptr;  // not owned; null: none. Sees training, not validation.
  // Called when `batches_done` batches of the epoch are trained on and the next is not fetched yet,
  // or there is none: the moment at which CaptureTraining finds the iterator where the model is. Of
  // several processes, one whose data has ended calls it after each update of the others too. An
  // error ends the training.
  std::function<absl::Status(int epoch, int64_t batches_done)> capture_point;
  // SIGINT (Ctrl-C) and SIGTERM end the training after the batch, with kCancelled; stop_point is
  // called then, to save what there is. A second signal ends the process as usual.
  bool stop_on_signal = false;
  std::function<absl::Status(int epoch, int64_t batches_done)> stop_point;
  // Called when the training has ended in good order, whatever ended it: Fit returns its status. A
  // Checkpointer waits there for the last state to be written.
  std::function<absl::Status()> end_point;
  InitOptimizerOptions optimizer;
  InitParamsOptions params;
  WriteReq grad_req = WriteReq::kWrite;
  // Gradients of so many batches are added up, in any buckets, before an update; of those that are
  // left at the end of an epoch likewise. Above 1, grad_req is kAdd, and capture_point is called
  // after updates only, those at the ends of epochs included. A module that is bound otherwise is
  // bound again, as it was but for that (a parameter whose grad_reqs is kNull stays as it is), and
  // keeps its parameters; so it is by the next Fit that adds up nothing.
  int accumulate_batches = 1;
  bool force_rebind = false;
  // Looks at each batch's gradients and small losses before the update, and at the parameters after
  // an epoch. What is NaN or infinite ends the training with kOutOfRange and the batch, its bucket
  // key, and the node that made the first such value, and leaves the module as it was before the
  // batch: the batch is not learnt from, and its changes of auxiliary states are taken back. (Only
  // random streams have moved on.) Costs a pass over the gradients (docs/module.md).
  bool check_finite = true;
  // Looks at the ids of words and classes in each batch of the first epoch, before the update:
  // kOutOfRange, naming input, row, value and operator, for one that the network does not have,
  // where kernels would take the nearest word, or no class. Rows of padding, what is behind a row's
  // length, a label that the loss ignores and the iterator's invalid_label are let pass
  // (check_ids.h). Costs one pass over the ids (docs/module.md). False: such ids are trained on.
  bool check_ids = true;
  // As ModuleBindOptions', where Fit binds: a module that is bound already draws on. Also that of
  // initial values, unless `params` has another.
  std::optional<uint64_t> seed;
  int begin_epoch = 0;
  int num_epoch = 0;  // required
  // Batches of the first epoch that are already done: for a run that was resumed in the middle of
  // it, with the iterator and the metric put back by LoadTrainingState.
  int64_t begin_batch = 0;
};

// What Fit binds, makes the optimizer and initializes parameters with, its accumulate_batches and
// seed taken into account: for a run that is put back before Fit (see BindToFit).
ModuleBindOptions BindOptionsForFit(const DataIter& train_data, const FitOptions& options);
InitOptimizerOptions OptimizerOptionsForFit(const FitOptions& options);
InitParamsOptions ParamsOptionsForFit(const FitOptions& options);

class BaseModule {
 public:
  virtual ~BaseModule() = default;

  bool binded() const { return binded_; }
  virtual bool params_initialized() const = 0;
  virtual bool optimizer_initialized() const = 0;
  bool for_training() const { return for_training_; }
  bool inputs_need_grad() const { return inputs_need_grad_; }
  // Of parameters, as bound.
  WriteReq grad_req() const { return grad_req_; }
  // What it was bound with, without shared_module; null before Bind, and of a kind of module that
  // has no gradients of its own.
  virtual const ModuleBindOptions* bind_options() const { return nullptr; }

  // The modules that it is made of, in the order in which they compute: by default itself.
  virtual std::vector<const BaseModule*> parts() const { return {this}; }

  // Names are known from the start, shapes once bound.
  virtual absl::StatusOr<Symbol> symbol() const = 0;
  virtual const std::vector<std::string>& data_names() const = 0;
  virtual const std::vector<std::string>& label_names() const = 0;
  virtual std::vector<std::string> output_names() const = 0;
  virtual const std::vector<DataDesc>& data_shapes() const = 0;
  virtual const std::vector<DataDesc>& label_shapes() const = 0;
  virtual std::vector<std::pair<std::string, Shape>> output_shapes() const = 0;
  // Where the samples of a batch are in each output, of what the last Forward or ForwardToEvaluate
  // ran; empty where the module has no graph that tells.
  virtual std::vector<BatchLayout> output_layouts() const { return {}; }

  virtual absl::Status Bind(const ModuleBindOptions& options) = 0;

  // Gives every parameter and auxiliary state a value; does nothing to an initialized module
  // without force_init. kInvalidArgument, naming it, if a parameter is missing in the given maps
  // (without allow_missing) or has another shape; nothing is changed then.
  virtual absl::Status InitParams(const InitParamsOptions& options = {}) = 0;
  // Copies on the CPU, of all parameters and auxiliary states.
  virtual absl::StatusOr<ModuleParams> GetParams() const = 0;
  // As MXNet: without allow_missing as InitParams; with it, names that are no parameters fail
  // unless allow_extra. Nothing is changed by an error in names or shapes.
  virtual absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                 const SetParamsOptions& options = {}) = 0;
  virtual absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) = 0;

  // Computes the outputs. `is_train` absent: as bound. A batch of other shapes than the bound ones
  // reshapes the module. kInvalidArgument, naming bucket and input, for a batch that does not fit.
  virtual absl::Status Forward(const DataBatch& batch,
                               std::optional<bool> is_train = std::nullopt) = 0;
  // Computes the outputs as Forward with is_train false does, for Score and Predict: where the
  // module is bound for training, by a plan of its own, without gradients, over the same parameters
  // and in the same memory. Outputs, metrics and shapes are then this batch's, until the next
  // Forward; Backward and Update go on with the batch that was trained on.
  virtual absl::Status ForwardToEvaluate(const DataBatch& batch) {
    return Forward(batch, /*is_train=*/false);
  }
  // Computes gradients; one head gradient per output, or none if all outputs are losses.
  virtual absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) = 0;
  virtual absl::Status Update() = 0;
  // Takes part in an update of the other processes, without a batch of its own: the number of those
  // that had one. With a store over several processes, each process calls Update or this for every
  // step until none has a batch left (Fit does). Without such a store: 0.
  virtual absl::StatusOr<int> JoinUpdate() { return 0; }
  // Overwrites the gradients of all parameters with zeros.
  virtual absl::Status ZeroGrads() { return absl::OkStatus(); }
  // What the module trains and computes with (module_group.h); null for one that is made of other
  // modules or has no parameters.
  virtual const std::shared_ptr<ModuleGroup>& group() const;
  // What sums gradients; null if nothing does. An update gives it the optimizer of InitOptimizer
  // again, or takes it, if it has been given another.
  virtual std::shared_ptr<KVStore> kvstore() const { return nullptr; }
  // Forward in training, then Backward, of a network whose outputs are losses: by default these
  // calls. On a GPU they may be one piece of work (Executor::ForwardBackward).
  virtual absl::Status ForwardBackward(const DataBatch& batch);
  // ForwardBackward, then Update: by default these calls. Of a Module on one GPU they are one piece
  // of work where nothing but the optimizer has a part in the update: no key-value store, no
  // clipping by the norm of all gradients.
  virtual absl::Status TrainStep(const DataBatch& batch);

  // Valid until the next Forward of any module that shares memory with this one.
  virtual absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const = 0;
  // Of the data, in the order of data_shapes. kFailedPrecondition unless bound with
  // inputs_need_grad.
  virtual absl::StatusOr<std::vector<NDArray>> GetInputGrads() const = 0;
  // The gradient of a parameter as the last Backward left it. kNotFound if it has none.
  virtual absl::StatusOr<NDArray> GetGrad(const std::string& name) const = 0;
  virtual absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) = 0;

  // Arguments that are neither data nor parameters and last from batch to batch.
  virtual absl::StatusOr<std::vector<NDArray>> GetStates() const = 0;
  virtual absl::Status SetStates(absl::Span<const NDArray> states) = 0;
  virtual absl::Status SetStates(double value) = 0;

  // Makes ready for a batch that comes later, without disturbing outputs.
  virtual absl::Status Prepare(const DataBatch& batch) = 0;
  virtual absl::Status InstallMonitor(Executor::MonitorCallback callback,
                                      bool monitor_all = false) = 0;
  // What installs again what is installed now, for who watches in its place for a while: by default
  // nothing. It must not outlive the module.
  virtual std::function<absl::Status()> MonitorRestorer() {
    return [this] { return InstallMonitor(nullptr); };
  }

  // What Fit's check_finite asks; by default there is nothing to find. Before a batch: keeps what
  // computing it writes beside gradients.
  virtual absl::Status PrepareToTakeBack() { return absl::OkStatus(); }
  // Puts that back, and clears gradients that add up.
  virtual absl::Status TakeBackBatch() { return absl::OkStatus(); }
  // After Backward: kOutOfRange, naming it, if a loss (an output of at most 65,536 elements) or the
  // gradient of a parameter has an element that is NaN or infinite.
  virtual absl::Status CheckFinite() { return absl::OkStatus(); }
  // Likewise of parameters and auxiliary states.
  virtual absl::Status CheckParamsFinite() const { return absl::OkStatus(); }

  // What Fit does when an epoch's batches are done: gives all contexts the same values, those that
  // GetParams returns. By default there is one.
  virtual absl::Status AverageContexts() { return absl::OkStatus(); }

  // Writes MXNet's checkpoint files, as the kind of module has them (Module, BucketingModule); with
  // save_optimizer_states prefix-0003.states too. kUnimplemented, saying what to save instead, for
  // a module without a symbol of its own.
  virtual absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                                      bool save_optimizer_states = false) const;
  // Files of parameters with names arg:NAME and aux:NAME.
  absl::Status SaveParams(const std::string& path) const;
  absl::Status LoadParams(const std::string& path);

  // Binds as Fit does, which then finds nothing to change: for a run that is put back before Fit.
  absl::Status BindToFit(const DataIter& train_data, const FitOptions& options);

  // Trains for epochs [begin_epoch, num_epoch): binds, initializes and makes the optimizer where
  // that has not been done, and then, per batch, computes, updates and feeds the metric. The next
  // batch is fetched after the metric is fed, as in MXNet. A callback that returns false, whichever
  // it is, ends the training after the batch (or, of those of an epoch and of its validation, after
  // that), with an OK status. Samples that no batch ever holds (DataIter::unused_samples), and
  // those that roll over from the last epoch, are warned of in the log. kInvalidArgument if
  // train_data or eval_data has no batch, after Reset. With a store over several processes, all of
  // them have to call it: an epoch lasts until the last process has used up its data, and a
  // callback of one process ends the training of all.
  absl::Status Fit(DataIter& train_data, const FitOptions& options);

  // The metric's names and values over `eval_data`, computed with is_train false.
  absl::StatusOr<std::vector<std::pair<std::string, double>>> Score(
      DataIter& eval_data, EvalMetric& metric, const ScoreOptions& options = {});

  // Calls `visit` with the outputs of each batch, as copies and without the batch's last `pad`
  // samples. (MXNet leaves out as many rows of the first axis, whatever it is.) kInvalidArgument,
  // naming the output, if a batch has padding and it cannot be told where an output has its
  // samples.
  absl::Status IterPredict(DataIter& eval_data,
                           absl::FunctionRef<absl::Status(const std::vector<NDArray>& outputs,
                                                          int64_t nbatch, const DataBatch& batch)>
                               visit,
                           const PredictOptions& options = {});

  // The outputs of all batches, joined on their batch axis and without padding: one array per
  // output, samples in the input's order (PredictOptions::input_order). An output without samples,
  // such as a mean, has the values of all batches along its first axis, those of padded batches
  // too. kInvalidArgument if the batches' outputs differ in another axis (as buckets' may), or if
  // it cannot be told which sample's several rows are; and, without num_batch and ids, if the
  // iterator serves some samples in no batch, though nobody has asked it to leave them out
  // (UnusedSamples::by_request): they would have no row.
  absl::StatusOr<std::vector<NDArray>> Predict(DataIter& eval_data,
                                               const PredictOptions& options = {});
  // The outputs of each batch by itself, without its rows of padding: batches[i][k] is output k of
  // batch i, in the iterator's order (PredictOptions::input_order and ids do not count). For
  // outputs that differ in other axes than the first, as buckets' may. MXNet:
  // predict(merge_batches=False).
  absl::StatusOr<std::vector<std::vector<NDArray>>> PredictBatches(
      DataIter& eval_data, const PredictOptions& options = {});
  // The outputs for `data` as the one batch, as copies. Any number of rows, as for Forward.
  absl::StatusOr<std::vector<NDArray>> Predict(const NDArray& data);

 protected:
  // kFailedPrecondition, saying which call is missing, unless the module is in that state.
  absl::Status RequireBound(const char* call) const;
  absl::Status RequireParams(const char* call) const;
  absl::Status RequireOptimizer(const char* call) const;

  bool binded_ = false;
  bool for_training_ = false;
  bool inputs_need_grad_ = false;
  WriteReq grad_req_ = WriteReq::kWrite;

 private:
  struct ScoreEnd {
    int64_t batches = 0;
    bool go_on = true;  // whether no callback returned false
  };
  absl::StatusOr<ScoreEnd> RunScore(DataIter& eval_data, EvalMetric& metric,
                                    const ScoreOptions& options);

  bool fit_added_up_ = false;  // whether Fit has bound for gradients that add up
};

}  // namespace cooper

#endif  // COOPER_MODULE_INTERFACE_BASE_MODULE_H_
