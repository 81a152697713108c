#ifndef COOPER_MODULE_FUNCTION_MODULE_H_
#define COOPER_MODULE_FUNCTION_MODULE_H_

// Modules around C++ functions, without a symbol and without parameters: a part of a
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

struct FunctionModuleOptions {
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names;
  std::vector<std::string> output_names = {"output"};

  // The shapes of the outputs for data of these shapes. Null: output i has the shape of data i.
  std::function<absl::StatusOr<std::vector<Shape>>(absl::Span<const DataDesc> data)> output_shapes;

  // The outputs for a batch, whose arrays are in the order of data_names and label_names. Labels
  // may be missing. Arrays of the batch may be outputs; they must not be written to.
  std::function<absl::StatusOr<std::vector<NDArray>>(const DataBatch& batch, bool is_train)>
      forward;

  // The gradients of the data, shaped like them, from what `forward` got and gave last. Head
  // gradients are one per output, or none if the outputs are a loss. Null: there are none to have.
  std::function<absl::StatusOr<std::vector<NDArray>>(const DataBatch& batch,
                                                     absl::Span<const NDArray> outputs,
                                                     absl::Span<const NDArray> head_gradients)>
      backward;
};

class FunctionModule : public BaseModule {
 public:
  // kInvalidArgument without `forward`, or if data and outputs differ in number without
  // `output_shapes`.
  static absl::StatusOr<std::unique_ptr<FunctionModule>> Create(FunctionModuleOptions options);

  // kUnimplemented: there is none.
  absl::StatusOr<Symbol> symbol() const override;
  const std::vector<std::string>& data_names() const override { return options_.data_names; }
  const std::vector<std::string>& label_names() const override { return options_.label_names; }
  std::vector<std::string> output_names() const override { return options_.output_names; }
  const std::vector<DataDesc>& data_shapes() const override { return data_shapes_; }
  const std::vector<DataDesc>& label_shapes() const override { return label_shapes_; }
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;

  // Nothing has to be initialized: the calls after Bind are ready with it.
  bool params_initialized() const override { return binded(); }
  bool optimizer_initialized() const override { return binded(); }

  // The descriptions have the names of the module in their order. kUnimplemented for gradients of
  // the data that add up over batches.
  absl::Status Bind(const ModuleBindOptions& options) override;
  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;

  // kInvalidArgument, with names and shapes, if batch or outputs are not what was announced.
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) override;
  absl::Status Update() override;

  absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const override;
  absl::StatusOr<std::vector<NDArray>> GetInputGrads() const override;
  absl::StatusOr<NDArray> GetGrad(const std::string& name) const override;
  // Nothing for a module without labels, as in MXNet.
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) override;

  absl::StatusOr<std::vector<NDArray>> GetStates() const override;
  absl::Status SetStates(absl::Span<const NDArray> states) override;
  absl::Status SetStates(double value) override;

  absl::Status Prepare(const DataBatch& batch) override;
  // Called with the outputs, and with monitor_all with the data before.
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;
  std::function<absl::Status()> MonitorRestorer() override {
    return
        [this, callback = monitor_, all = monitor_all_] { return InstallMonitor(callback, all); };
  }

 private:
  explicit FunctionModule(FunctionModuleOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<Shape>> InferOutputShapes(const std::vector<DataDesc>& data) const;
  // The batch with its arrays in the order of the names, and the descriptions of its data.
  absl::StatusOr<DataBatch> Arrange(const DataBatch& batch) const;

  const FunctionModuleOptions options_;
  std::vector<DataDesc> data_shapes_;
  std::vector<DataDesc> label_shapes_;
  std::vector<Shape> output_shapes_;
  // Of the last Forward and Backward.
  DataBatch batch_;
  std::vector<NDArray> outputs_;
  std::vector<NDArray> input_grads_;
  bool ran_ = false;
  bool ran_training_ = false;
  Executor::MonitorCallback monitor_;
  bool monitor_all_ = false;
};

// A loss: the outputs are the scores as they come in, and the gradient of the scores follows from
// them and the labels.
struct FunctionLossModuleOptions {
  std::string name = "loss";  // the output is "loss_output"
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  // Of the scores, shaped like them; required.
  std::function<absl::StatusOr<NDArray>(const NDArray& scores, const NDArray& labels)> grad_func;
};

// Its Backward takes no head gradients, and fails with kFailedPrecondition after a batch without
// labels.
absl::StatusOr<std::unique_ptr<FunctionModule>> FunctionLossModule(
    FunctionLossModuleOptions options);

}  // namespace cooper

#endif  // COOPER_MODULE_FUNCTION_MODULE_H_
