#ifndef COOPER_MODULE_NETWORK_MODULE_H_
#define COOPER_MODULE_NETWORK_MODULE_H_

// A symbol with its parameters and optimizer: what trains one network of fixed structure. Inputs
// may change their shapes from batch to batch. MXNet: python/mxnet/module/module.py.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "executor/run/after_backward.h"
#include "module/devices/data_parallel_executor_group.h"
#include "module/devices/module_group.h"
#include "module/interface/base_module.h"
#include "module/network/batch_check.h"
#include "module/network/bound_shapes.h"
#include "module/options/module_options.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Not thread-safe. Parameters live in a ModuleGroup, which modules with a shared_module share.
class Module : public BaseModule {
 public:
  // kInvalidArgument, with near names, if a data, state or fixed name is no argument of `symbol`. A
  // label name that is none is ignored, since inference graphs have no labels; but Bind for
  // training refuses it where an argument that nothing else claims may be the label that was meant,
  // and a loss's label that is not among the names.
  static absl::StatusOr<std::unique_ptr<Module>> Create(const Symbol& symbol,
                                                        ModuleOptions options = {});

  // A module with the symbol and parameters that SaveCheckpoint wrote, ready for Bind.
  static absl::StatusOr<std::unique_ptr<Module>> Load(const std::string& prefix, int epoch,
                                                      bool load_optimizer_states = false,
                                                      ModuleOptions options = {});

  // Writes prefix-symbol.json and prefix-0003.params, which MXNet reads, and with
  // save_optimizer_states prefix-0003.states in cooper's own format.
  absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                              bool save_optimizer_states = false) const override;

  absl::StatusOr<Symbol> symbol() const override { return symbol_; }
  ModuleDescription description() const override;
  std::vector<BatchLayout> output_layouts() const override;
  // Arguments that are neither data, labels nor states.
  const std::vector<std::string>& param_names() const { return param_names_; }

  // With shared_module, parameters that Load brought give way to the shared ones, as in MXNet, and
  // those that are not among them get their values as InitParams of that module said.
  // kFailedPrecondition unless it is bound and has parameters, kInvalidArgument if it is on other
  // contexts.
  absl::Status Bind(const ModuleBindOptions& options) override;
  // Returns the program that the first Bind with these options would run, for example for their
  // `compiled`. Binds and allocates nothing. Several modules of a group may compile at a time,
  // while nothing changes the group. The errors are Bind's; kUnimplemented with several contexts or
  // group2ctxs.
  absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const ModuleBindOptions& options) const;
  // Binds for other shapes, which count as those of Bind from then on; parameters, states and
  // optimizer stay. kFailedPrecondition before Bind.
  absl::Status Reshape(const std::vector<DataDesc>& data_shapes,
                       const std::vector<DataDesc>& label_shapes);

  // Overrides without a comment have the contracts of BaseModule and its bases.
  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;
  // Takes the optimizer of `shared`, with which this module shares its parameters (it was bound
  // with ModuleBindOptions::shared_module, or the other way round): an update of either counts for
  // both. kFailedPrecondition if `shared` has no optimizer, kInvalidArgument if they share no
  // parameters.
  absl::Status BorrowOptimizer(const Module& shared) const;

  // A batch of other shapes than those that are bound binds the module to them; executors
  // of up to 8 sets of shapes are kept (BoundShapes).
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  // With a module of its own that shares this one's group, bound when it is first needed.
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

  absl::Status Prepare(const DataBatch& batch) override;
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;

  absl::Status CheckFinite() override;

  const std::shared_ptr<ModuleGroup>& group() const override { return group_; }
  // Returns the memory of the currently bound shapes; with `to_evaluate`, of the program that
  // ForwardToEvaluate runs. Zeros before Bind or the first such call.
  MemoryReport memory(bool to_evaluate = false) const;
  // Returns an estimate of the bytes that graphs, programs and plans of all bound shapes take,
  // without arrays and the arena (FootprintBytes, executor/run/footprint_bytes.h).
  int64_t footprint_bytes() const;
  // The executors of the shapes that are bound now; null before Bind. The module's own, and gone
  // once it is bound to other shapes, as a batch may make it.
  DataParallelExecutorGroup* executor_group() const { return bound_.current(); }

 private:
  Module(const Symbol& symbol, ModuleOptions options);

  // The checks of Create, of Bind's descriptions and of its shared_module.
  absl::Status CheckNames() const;
  // Binds to options' shapes and puts loaded parameters in; bound_ changes only if both succeed.
  absl::Status BindAndLoad(const ModuleBindOptions& options);
  absl::Status CheckDescs(const ModuleBindOptions& options) const;
  absl::Status CheckShared(const Module& other) const;
  // Makes the shapes those of bound_.current().
  absl::Status UseShapes(const std::vector<DataDesc>& data_shapes,
                         const std::vector<DataDesc>& label_shapes);
  // Binds executors for these shapes, which run `compiled` if it is given. Errors say the shapes
  // that were given, and which input has none.
  absl::StatusOr<std::unique_ptr<DataParallelExecutorGroup>> BindGroup(
      const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes,
      std::shared_ptr<const CompiledProgram> compiled = nullptr);
  // Returns the options of the last Bind with these shapes.
  ModuleBindOptions BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                   const std::vector<DataDesc>& label_shapes) const;
  // The parameters that the next update changes.
  const std::vector<std::string>& NamesToUpdate();
  // Binds the shapes of the batch, if they are not those that are bound. Does not feed the batch.
  absl::Status RebindForBatch(const DataBatch& batch);
  // Reports the gradients that accumulated to the learner, as shared ones if the group has buckets.
  void ReportAccumulatedGrads();
  // Binds the batch's shapes and counts it.
  absl::Status AcceptBatch(const DataBatch& batch);
  // Also checks labels and counts as Backward requires, and feeds the batch.
  absl::Status AcceptTrainingBatch(const DataBatch& batch);
  // The parts of a TrainStep on the batch that was fed: forward and backward with, on one GPU, what
  // comes after them in one piece of work; these with CheckFinite; these with Update.
  absl::Status ForwardBackwardFed(const AfterBackward* after = nullptr);
  absl::Status ForwardBackwardChecked();
  absl::Status ForwardBackwardUpdate();
  bool is_on_one_gpu() const {
    return options_.compute.contexts.size() == 1 && !options_.compute.contexts[0].is_cpu();
  }
  // The module that gives outputs: this one, or the one that evaluates.
  const Module& active() const { return evaluated_ ? *evaluator_ : *this; }
  // Sets evaluator_ to a module of the same group that is bound for prediction to the batch's
  // shapes.
  absl::Status MakeEvaluator(const DataBatch& batch);
  // Sets samples_ and tokens_. Rows of padding count as samples if the batch gives them ids: an
  // iterator has then filled them with samples of the epoch.
  void CountBatch(const DataBatch& batch);
  // kInvalidArgument where gradients are normalized by what the batch does not tell.
  absl::Status CheckCounts() const;
  // Tells the learner how much is in the gradients that were just made.
  void CountGradients();

  Symbol symbol_;
  Symbol bound_symbol_;  // the same, or LabelProbabilities of it
  ModuleOptions options_;
  std::shared_ptr<ModuleGroup> group_;
  std::vector<std::string> arg_names_;
  std::vector<std::string> param_names_;
  std::vector<std::string> aux_names_;
  std::vector<std::string> output_names_;
  std::vector<std::string> label_args_;  // labels that the symbol has
  bool missing_labels_ = false;          // the batch of the last Forward
  int64_t samples_ = 0;                  // its rows without padding
  int64_t tokens_ = -1;                  // its time steps without padding; -1: it has no lengths
  BoundShapes bound_;
  BatchCheck batch_check_;
  int64_t last_update_ = -1;                    // the name of TrainStep's last one (AfterBackward)
  std::vector<std::string> accumulated_names_;  // parameters whose request is kAdd
  std::vector<std::string> names_to_update_;    // of the last update
  const Executor* names_of_ = nullptr;          // the executor they are those of; null: of none
  // Bound without gradients: what ForwardToEvaluate runs where this is bound for training.
  std::unique_ptr<Module> evaluator_;
  bool evaluated_ = false;  // whether the last batch was the evaluator's
};

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_MODULE_H_
