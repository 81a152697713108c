#ifndef COOPER_MODULE_INTERFACE_TRAINABLE_MODULE_H_
#define COOPER_MODULE_INTERFACE_TRAINABLE_MODULE_H_

// The interface that Module, BucketingModule, SequentialModule and FunctionModule implement. All
// are a BaseModule too, which adds MXNet's conveniences. The calls follow in this order; a call
// that comes too early fails with kFailedPrecondition, naming the missing call:
//
//   Bind -> InitParams -> InitOptimizer -> Forward / Backward / Update

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
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

// Names, known after construction, and shapes, empty before Bind, of the batch that was computed
// last. Refers to members of the module: valid until the module is bound or gets another batch.
struct ModuleDescription {
  const std::vector<std::string>& data_names;
  const std::vector<std::string>& label_names;
  const std::vector<std::string>& output_names;
  const std::vector<DataDesc>& data_shapes;
  const std::vector<DataDesc>& label_shapes;
  const std::vector<Shape>& output_shapes;
  // The key of the bucket that Bind binds; null if the module has no buckets.
  const BucketKey* default_bucket_key = nullptr;

  // The outputs' shapes with their names.
  std::vector<std::pair<std::string, Shape>> NamedOutputShapes() const;
};

// The steps of TrainStep after Forward and Backward.
struct StepOptions {
  // Runs CheckFinite. A batch that fails it changes no parameter.
  bool check_finite = false;
  bool update = true;
};

// See the top of the file. Not thread-safe.
class TrainableModule {
 public:
  virtual ~TrainableModule() = default;

  virtual ModuleDescription description() const = 0;
  virtual absl::StatusOr<Symbol> symbol() const = 0;
  // Where the samples of a batch are in each output of the last Forward or ForwardToEvaluate; empty
  // if the module has no graph that tells.
  virtual std::vector<BatchLayout> output_layouts() const { return {}; }
  // The modules that this one consists of, in the order in which they compute; by default itself.
  virtual std::vector<const TrainableModule*> parts() const { return {this}; }
  // The group whose parameters and devices the module uses (module_group.h); null for a module that
  // consists of other modules or has no parameters.
  virtual const std::shared_ptr<ModuleGroup>& group() const;
  // The learners of the modules that this one consists of (parts), which own gradients and
  // optimizer states: none for a module without parameters. Valid until a part is bound again. A
  // single learner is returned without an allocation.
  absl::InlinedVector<Learner*, 1> learners() const;

  bool binded() const { return binded_; }
  // Whether all parts have parameters, and an optimizer. A part without a group needs none.
  bool params_initialized() const;
  bool optimizer_initialized() const;
  // The options of the last Bind (KeptOptions); null before Bind.
  const ModuleBindOptions* bind_options() const { return binded_ ? &bind_options_ : nullptr; }

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
  // Forward in training, then Backward, for a network whose outputs are losses, and then, as the
  // options say, CheckFinite and Update. By default calls these. On a GPU the passes are one launch
  // (Executor::ForwardBackward); the check is part of it, or, without a check, a Module on one GPU
  // makes the update part of it if only the optimizer takes part in the update (no key-value store,
  // no clipping by the global norm).
  virtual absl::Status TrainStep(const DataBatch& batch, const StepOptions& options = {});
  // Takes part in an update of the other processes without a batch of its own, and returns how many
  // processes had a batch. With a store over several processes, each process calls Update or
  // JoinUpdate for every step until no process has a batch left (Fit does). Without such a store
  // returns 0.
  absl::StatusOr<int> JoinUpdate();

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
  // or the gradient of a parameter has an element that is NaN or infinite. The default
  // implementation finds nothing.
  virtual absl::Status CheckFinite() { return absl::OkStatus(); }

  // Writes MXNet's checkpoint files in the format of the kind of module (Module, BucketingModule);
  // with save_optimizer_states also prefix-0003.states. kUnimplemented, saying what to save
  // instead, for a module without a symbol of its own.
  virtual absl::Status SaveCheckpoint(const std::string& prefix, int epoch,
                                      bool save_optimizer_states = false) const;
  // Write and read parameter files with the names arg:NAME and aux:NAME.
  absl::Status SaveParams(const std::string& path) const;
  absl::Status LoadParams(const std::string& path);

 protected:
  // Each returns kFailedPrecondition, naming the missing call, unless the module is in that state.
  absl::Status RequireBound(const char* call) const;
  absl::Status RequireParams(const char* call) const;
  absl::Status RequireOptimizer(const char* call) const;

  // Calls `call` on one learner after the other, up to the first error, which names the part.
  absl::Status EachLearner(absl::FunctionRef<absl::Status(Learner&)> call) const;
  // Returns the learner of a module that has an optimizer and one learner. kUnimplemented, saying
  // what to do, if it has several.
  absl::StatusOr<Learner*> OnlyLearner(const char* call) const;

  bool is_bound_for_training() const { return binded_ && bind_options_.for_training; }
  bool is_bound_for_input_grads() const { return binded_ && bind_options_.inputs_need_grad; }

  bool binded_ = false;
  ModuleBindOptions bind_options_;     // of the last Bind, without what only that uses
  Executor::MonitorCallback monitor_;  // the last of InstallMonitor
  bool monitor_all_ = false;

 private:
  bool All(bool (*holds)(const TrainableModule& part)) const;
};

}  // namespace cooper

#endif  // COOPER_MODULE_INTERFACE_TRAINABLE_MODULE_H_
