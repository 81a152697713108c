#ifndef COOPER_MODULE_FUNCTION_MODULE_H_
#define COOPER_MODULE_FUNCTION_MODULE_H_

// Modules that wrap C++ functions and have neither a symbol nor parameters: a part of a
// SequentialModule that no operator computes, often its loss. MXNet:
// python/mxnet/module/python_module.py (PythonModule, PythonLossModule).
//
//   SequentialModule chain;
//   COOPER_RETURN_IF_ERROR(chain.Add(std::move(logits)));
//   COOPER_ASSIGN_OR_RETURN(auto loss, FunctionLossModule({.grad_func = Gradient}));
//   COOPER_RETURN_IF_ERROR(chain.Add(std::move(loss), {.take_labels = true, .auto_wiring = true}));

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "module/interface/base_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Options of FunctionModule::Create. The functions are called on the thread that calls the module.
struct FunctionModuleOptions {
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names;
  std::vector<std::string> output_names = {"output"};

  // Returns the shapes of the outputs for data of these shapes. Null: output i has the shape of
  // data i.
  std::function<absl::StatusOr<std::vector<Shape>>(absl::Span<const DataDesc> data)> output_shapes;

  // Returns the outputs for a batch, whose arrays are in the order of data_names and label_names.
  // Labels may be missing. Outputs may share arrays with the batch; those must not be written to.
  std::function<absl::StatusOr<std::vector<NDArray>>(const DataBatch& batch, bool is_train)>
      forward;

  // Returns the gradients of the data, with the data's shapes, from the last batch and outputs of
  // `forward`. There is one head gradient per output, or none if the outputs are losses. Null: the
  // module has no gradients.
  std::function<absl::StatusOr<std::vector<NDArray>>(const DataBatch& batch,
                                                     absl::Span<const NDArray> outputs,
                                                     absl::Span<const NDArray> head_gradients)>
      backward;
};

// See the top of the file. Not thread-safe.
class FunctionModule : public BaseModule {
 public:
  // kInvalidArgument if `forward` is missing, or if data and outputs differ in number and
  // `output_shapes` is null.
  static absl::StatusOr<std::unique_ptr<FunctionModule>> Create(FunctionModuleOptions options);

  // Returns kUnimplemented: the module has no symbol.
  absl::StatusOr<Symbol> symbol() const override;
  ModuleDescription description() const override {
    return {.data_names = options_.data_names,
            .label_names = options_.label_names,
            .output_names = options_.output_names,
            .data_shapes = data_shapes_,
            .label_shapes = bind_options_.label_shapes,
            .output_shapes = output_shapes_};
  }

  // The descriptions must have the module's names in their order. kUnimplemented for gradients of
  // the data that accumulate over batches.
  absl::Status Bind(const ModuleBindOptions& options) override;
  // There are no parameters and no states: GetParams and GetStates return none, GetGrad fails with
  // kNotFound, and the other functions for them do nothing. SetParams fails with kInvalidArgument
  // for an array where allow_missing is set without allow_extra, SetStates for any array. All fail
  // with kFailedPrecondition before Bind.
  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;

  // kInvalidArgument, with names and shapes, if the batch or the outputs differ from what Bind
  // announced.
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  // kFailedPrecondition unless the module is bound for training and the last Forward was of
  // training.
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) override;
  // Does nothing.
  absl::Status Update() override;

  absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const override;
  absl::StatusOr<std::vector<NDArray>> GetInputGrads() const override;
  absl::StatusOr<NDArray> GetGrad(const std::string& name) const override;
  // Does nothing for a module without labels, as in MXNet.
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) override;

  absl::StatusOr<std::vector<NDArray>> GetStates() const override;
  absl::Status SetStates(absl::Span<const NDArray> states) override;
  absl::Status SetStates(double value) override;

  absl::Status Prepare(const DataBatch& batch) override;
  // The callback gets the outputs and, with monitor_all, the data before them.
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;

 private:
  explicit FunctionModule(FunctionModuleOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<Shape>> InferOutputShapes(const std::vector<DataDesc>& data) const;
  // Returns the batch with its arrays in the order of the names, and with descriptions of its data.
  absl::StatusOr<DataBatch> Arrange(const DataBatch& batch) const;

  const FunctionModuleOptions options_;
  std::vector<DataDesc> data_shapes_;  // of the last batch
  std::vector<Shape> output_shapes_;
  // State of the last Forward and Backward.
  DataBatch batch_;
  std::vector<NDArray> outputs_;
  std::vector<NDArray> input_grads_;
  bool ran_ = false;
  bool ran_training_ = false;
};

// A loss whose outputs are the scores unchanged. grad_func computes the gradient of the scores from
// the scores and the labels.
struct FunctionLossModuleOptions {
  std::string name = "loss";  // the output is "loss_output"
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  // Returns the gradient of the scores, with their shape; required.
  std::function<absl::StatusOr<NDArray>(const NDArray& scores, const NDArray& labels)> grad_func;
};

// Returns a module whose Backward takes no head gradients, and fails with kFailedPrecondition after
// a batch without labels.
absl::StatusOr<std::unique_ptr<FunctionModule>> FunctionLossModule(
    FunctionLossModuleOptions options);

}  // namespace cooper

#endif  // COOPER_MODULE_FUNCTION_MODULE_H_
