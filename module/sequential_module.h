#ifndef COOPER_MODULE_SEQUENTIAL_MODULE_H_
#define COOPER_MODULE_SEQUENTIAL_MODULE_H_

// A chain of modules: the outputs of each are the data of the next, and gradients flow back through
// the chain. MXNet: python/mxnet/module/sequential_module.py.
//
//   SequentialModule chain;
//   COOPER_RETURN_IF_ERROR(chain.Add(std::move(encoder)));
//   COOPER_RETURN_IF_ERROR(chain.Add(std::move(classifier),
//                                    {.take_labels = true, .auto_wiring = true}));

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
#include "executor/executor.h"
#include "module/interface/base_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// How a module takes part in the chain.
struct SequentialMeta {
  // The module gets the labels, and its outputs count for metrics.
  bool take_labels = false;
  // The outputs of the module before are taken in their order, whatever their names. Without it
  // they must have the names of this module's data.
  bool auto_wiring = false;
};

// See the top of the file. Owns its modules. Not thread-safe.
class SequentialModule : public BaseModule {
 public:
  // Appends a module. kFailedPrecondition once bound.
  absl::Status Add(std::unique_ptr<BaseModule> module, SequentialMeta meta = {});

  size_t num_modules() const { return links_.size(); }
  BaseModule& module(size_t i) const { return *links_[i].module; }
  std::vector<const TrainableModule*> parts() const override;

  // Returns kUnimplemented: the graph is split over the modules.
  absl::StatusOr<Symbol> symbol() const override;
  // The data of the first module, the labels of the last module that takes labels, and the outputs
  // of the last module. Empty without modules.
  ModuleDescription description() const override;
  std::vector<BatchLayout> output_layouts() const override;

  // Binds each module to the output shapes of the one before. All but the first compute gradients
  // of their data, which overwrite whatever grad_req says. kInvalidArgument, naming both modules
  // with names and shapes, if outputs and data do not fit.
  absl::Status Bind(const ModuleBindOptions& options) override;

  // kInvalidArgument, naming the parameter, if two modules have one of the same name.
  absl::Status InitParams(const InitParamsOptions& options = {}) override;
  absl::StatusOr<ModuleParams> GetParams() const override;
  absl::Status SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                         const SetParamsOptions& options = {}) override;
  // Gives each module an optimizer of its own with the same options, or the one instance to all.
  // With clip_global_norm each module's gradients are clipped by their own norm.
  absl::Status InitOptimizer(const InitOptimizerOptions& options = {}) override;

  // Every module gets the batch's bucket key and lengths; modules with take_labels also get its
  // labels.
  absl::Status Forward(const DataBatch& batch,
                       std::optional<bool> is_train = std::nullopt) override;
  // Runs each module by a plan of its own without gradients, where the module has such plans.
  absl::Status ForwardToEvaluate(const DataBatch& batch) override;
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {}) override;
  absl::Status Update() override;

  absl::StatusOr<absl::Span<const NDArray>> GetOutputs() const override;
  absl::StatusOr<std::vector<NDArray>> GetInputGrads() const override;
  absl::StatusOr<NDArray> GetGrad(const std::string& name) const override;
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) override;

  // The states of all modules, in the order of the modules.
  absl::StatusOr<std::vector<NDArray>> GetStates() const override;
  absl::Status SetStates(absl::Span<const NDArray> states) override;
  absl::Status SetStates(double value) override;

  // Prepares only the first module: what the others get is not known before it has run.
  absl::Status Prepare(const DataBatch& batch) override;
  absl::Status InstallMonitor(Executor::MonitorCallback callback,
                              bool monitor_all = false) override;
  // Restores the monitor of each module.
  std::function<absl::Status()> MonitorRestorer() override;

  absl::Status CheckFinite() override { return Each(&BaseModule::CheckFinite); }

 private:
  struct Link {
    std::unique_ptr<BaseModule> module;
    SequentialMeta meta;
  };

  using Outputs = std::vector<std::pair<std::string, Shape>>;

  // Checks the arguments of SetParams.
  absl::Status CheckInitialParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                  const SetParamsOptions& options) const;
  // Passes each module its part of the batch, by calling `forward`.
  absl::Status Run(const DataBatch& batch,
                   absl::FunctionRef<absl::Status(BaseModule&, const DataBatch&)> forward);
  // Describes the data of module `i`, given outputs of the module before with these names and
  // shapes.
  absl::StatusOr<std::vector<DataDesc>> Wire(size_t i, const Outputs& outputs) const;
  // Calls `call` on one module after the other, up to the first error, which names the module.
  absl::Status Each(absl::FunctionRef<absl::Status(BaseModule&)> call) const;
  // Returns `status`, naming the module and what it gets from the one before, if there is one.
  absl::Status With(size_t i, const absl::Status& status) const;

  std::vector<Link> links_;
  std::vector<DataDesc> label_shapes_;
  bool was_bound_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_SEQUENTIAL_MODULE_H_
