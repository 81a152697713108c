#ifndef COOPER_MODULE_INTERFACE_BASE_MODULE_H_
#define COOPER_MODULE_INTERFACE_BASE_MODULE_H_

// BaseModule adds MXNet's calls to a TrainableModule, and the loops Fit, Score and Predict. None of
// these functions is virtual. MXNet: python/mxnet/module/base_module.py.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/interface/trainable_module.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/eval_metric.h"
#include "module/options/module_options.h"
#include "module/options/parameter_options.h"
#include "module/parameters/learner.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

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

// See the top of the file. Not thread-safe.
class BaseModule : public TrainableModule {
 public:
  // How the module is bound; before Bind false and kWrite.
  bool for_training() const { return is_bound_for_training(); }
  bool inputs_need_grad() const { return is_bound_for_input_grads(); }
  // The request of parameters' gradients.
  WriteReq grad_req() const { return bind_options_.grad_req; }

  // The parts of description().
  const std::vector<std::string>& data_names() const { return description().data_names; }
  const std::vector<std::string>& label_names() const { return description().label_names; }
  const std::vector<std::string>& output_names() const { return description().output_names; }
  const std::vector<DataDesc>& data_shapes() const { return description().data_shapes; }
  const std::vector<DataDesc>& label_shapes() const { return description().label_shapes; }
  std::vector<std::pair<std::string, Shape>> output_shapes() const {
    return description().NamedOutputShapes();
  }
  std::optional<BucketKey> default_bucket_key() const {
    const BucketKey* const key = description().default_bucket_key;
    return key == nullptr ? std::nullopt : std::optional(*key);
  }

  // TrainStep without an update.
  absl::Status ForwardBackward(const DataBatch& batch) {
    return TrainStep(batch, {.update = false});
  }

  // Overwrites the gradients of all parameters with zeros.
  absl::Status ZeroGrads() { return EachLearner(&Learner::ZeroGrads); }
  // Checks parameters and auxiliary states as CheckFinite does losses. kFailedPrecondition before
  // Bind.
  absl::Status CheckParamsFinite() const {
    const absl::Status bound = RequireBound("CheckParamsFinite");
    return bound.ok() ? EachLearner(&Learner::CheckParamsFinite) : bound;
  }
  // Gives all contexts the same values, those that GetParams returns; Fit calls it at the end of
  // each epoch. Does nothing on one context. kFailedPrecondition before Bind.
  absl::Status AverageContexts() {
    const absl::Status bound = RequireBound("AverageContexts");
    return bound.ok() ? EachLearner(&Learner::AverageContexts) : bound;
  }
  // The store that sums gradients, that of the first learner that has one; null if there is none.
  // If the store has another optimizer at an update, the module gives it its own again, or removes
  // it.
  std::shared_ptr<KVStore> kvstore() const { return KVStoreOf(learners()); }

  // Write and read the optimizer's states, in cooper's format; the reader also takes files of
  // MXNet. The options of the optimizer are not among them. Errors: kFailedPrecondition without an
  // optimizer; kUnimplemented for a module of several parts with parameters.
  absl::Status SaveOptimizerStates(const std::string& path) const {
    COOPER_ASSIGN_OR_RETURN(const Learner* learner, OnlyLearner("SaveOptimizerStates"));
    return learner->SaveOptimizerStates(path);
  }
  absl::Status LoadOptimizerStates(const std::string& path) {
    COOPER_ASSIGN_OR_RETURN(Learner * learner, OnlyLearner("LoadOptimizerStates"));
    return learner->LoadOptimizerStates(path);
  }

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

 private:
  bool fit_accumulation_ = false;  // whether Fit has bound for gradients that accumulate
};

}  // namespace cooper

#endif  // COOPER_MODULE_INTERFACE_BASE_MODULE_H_
