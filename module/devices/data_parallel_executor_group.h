#ifndef COOPER_MODULE_DEVICES_DATA_PARALLEL_EXECUTOR_GROUP_H_
#define COOPER_MODULE_DEVICES_DATA_PARALLEL_EXECUTOR_GROUP_H_

// A symbol bound for one shape of batch on each context of a module group: every context computes
// on its rows of the batch, at the same time. MXNet: python/mxnet/module/executor_group.py.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/executor.h"
#include "executor/run/after_backward.h"
#include "io/batch/data_desc.h"
#include "module/devices/batch_slices.h"
#include "module/devices/module_group.h"
#include "module/metric/eval_metric.h"
#include "module/options/group_contexts.h"
#include "module/options/module_options.h"
#include "ndarray/array/ndarray.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_batch_layout.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// Holds an executor for each context. It owns the executors and shares the arrays of the module
// group. Not thread-safe.
class DataParallelExecutorGroup {
 public:
  // Binds `symbol` on each of options.contexts.
  //
  // Each context gets its rows of every input: a part of the axis that the layout calls N. An input
  // without that axis goes to every context as it is. With fewer rows than contexts, the first
  // contexts get one row each and the others compute nothing.
  //
  // Parameters, gradients, auxiliary states and carried states are those of `group`, which makes
  // the missing ones; the executors work on its arrays. `options` and `group` must outlive the
  // result, and the group must have the contexts of the options. Only the shapes and the gradients
  // of `bind` are read. `compiled` is null, or the result of Compile, or of its Resize, for the
  // same symbol, options and group.
  //
  // Errors: those of SplitBatch and of Executor::SimpleBind; with several contexts also
  // kInvalidArgument, naming the output, if it is unknown which axis of an output has the samples.
  // Arrays that `group` has made before an error stay.
  static absl::StatusOr<std::unique_ptr<DataParallelExecutorGroup>> Bind(
      const Symbol& symbol, const ModuleOptions& options, const ModuleBindOptions& bind,
      ModuleGroup* group, std::shared_ptr<const CompiledProgram> compiled = nullptr);

  // Executor::Compile for a group of one context, without group2ctxs. It only reads `group`.
  // Thread-safe as long as nothing writes to the group.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const Symbol& symbol, const ModuleOptions& options, const ModuleBindOptions& bind,
      ModuleGroup* group);

  const std::vector<DataDesc>& data_shapes() const { return data_shapes_; }
  const std::vector<DataDesc>& label_shapes() const { return label_shapes_; }
  // The outputs' shapes for whole batches.
  const std::vector<Shape>& output_shapes() const { return output_shapes_; }
  const std::vector<BatchSlice>& slices() const { return slices_; }
  // Where the samples are in each output. With one context they are found at the first call, as
  // long as shape inference takes, and may be unknown.
  const std::vector<BatchLayout>& output_layouts() const;

  // The first context's program, from which other shapes can be bound.
  const std::shared_ptr<const CompiledProgram>& compiled() const {
    return executors_.front()->compiled();
  }
  // One for each context that has rows.
  int num_executors() const { return static_cast<int>(executors_.size()); }
  Executor& executor(int i) const { return *executors_[i]; }

  // Gives an input, by its place among data and then labels, its rows: by reference where dtype and
  // memory allow it, else converted to the dtype that it is bound with. Null: zeros.
  // kInvalidArgument, with the value, for one that the conversion changes (CheckExactIn,
  // io/batch/exact_integers.h).
  absl::Status SetInput(size_t input, const NDArray* array);
  absl::Status Forward(bool is_train);
  // `head_gradients` are of whole batches. Does nothing if no argument has a gradient.
  absl::Status Backward(absl::Span<const NDArray> head_gradients);
  // Forward in training and Backward, without head gradients. `after` is Executor's, and null with
  // several contexts.
  absl::Status ForwardBackward(const AfterBackward* after = nullptr);

  // Returns the outputs for whole batches. With several contexts they are copies, joined by
  // output_layouts(); the next call after a Forward overwrites them.
  absl::StatusOr<absl::Span<const NDArray>> Outputs();
  // Returns the outputs of each context, not joined.
  absl::StatusOr<std::vector<absl::Span<const NDArray>>> OutputsByContext() const;
  absl::StatusOr<std::vector<NDArray>> InputGrads() const;
  absl::StatusOr<std::vector<NDArray>> States() const;
  // `states` are of whole batches.
  absl::Status SetStates(absl::Span<const NDArray> states);
  // The gradient of a parameter: with several contexts, the sum over them.
  absl::StatusOr<NDArray> Grad(const std::string& name) const;
  // Updates `metric` with the outputs and `labels`, which are of whole batches. A metric that names
  // labels or outputs gets only the named ones.
  absl::Status UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels);

  // With several contexts these run one after the other while a callback is set.
  void SetMonitorCallback(const Executor::MonitorCallback& callback, bool monitor_all);
  // Sums over the contexts.
  MemoryReport memory() const;
  // FootprintBytes (executor/run/footprint_bytes.h) of the programs of all contexts.
  int64_t footprint_bytes() const { return footprint_bytes_; }

 private:
  // `names` are the symbol's variables.
  DataParallelExecutorGroup(const Symbol& symbol, const ModuleOptions& options,
                            const ModuleBindOptions& bind, ModuleGroup* group, VariableNames names);

  // Where the samples are in what the graph computes.
  absl::StatusOr<BatchLayouts> InferLayouts() const;
  // With several contexts: finds that for the outputs, and what each context runs.
  absl::Status FindParts();
  // Allocates the arrays that contexts without rows need so that the others can run.
  absl::Status AllocateIdle();
  absl::Status ClearIdleGrads();
  // Finds the dtypes of labels that follow from the dtypes of everything else, as that of
  // SoftmaxOutput's from its data.
  void FindLabelTypes();
  // Returns the dtype that the input is bound with: a label's as inferred, else as described.
  DType TypeOf(const DataDesc& desc) const;
  absl::Status BindExecutors(std::shared_ptr<const CompiledProgram> compiled);
  // Looks up the slots of the batch's arrays.
  void FindInputs();
  // With what the group has now.
  BindOptions OptionsOf(int i) const;
  absl::StatusOr<std::unique_ptr<Executor>> BindOne(
      int i, std::shared_ptr<const CompiledProgram> compiled);
  absl::StatusOr<std::unique_ptr<Executor>> BindWithArrays(
      int i, std::shared_ptr<const CompiledProgram> compiled);
  // Makes the arrays that the program needs and Parameters lack, and gives all to `bind`.
  absl::Status Allocate(const CompiledProgram& compiled, int i, BindOptions* bind);
  absl::Status FindOutputShapes();
  absl::Status BeginForward();
  absl::Status RunAll(absl::FunctionRef<absl::Status(int)> fn);
  // The parameters' arrays as they are now.
  absl::Status RefreshArgs();
  // For a single context: stores the head gradients in heads_[0], copied to their outputs'
  // contexts.
  absl::Status MoveHeadGradients(absl::Span<const NDArray> head_gradients);
  // Sets complete_gradients_.
  void FindCompleteGradients();
  // Runs the backward passes of several contexts with heads_, after their forward passes in
  // training if `forward` is set.
  absl::Status RunBackward(bool forward);
  // Returns the symbol that context `i` runs, with its losses weighted by the context's share.
  const Symbol& SymbolOf(int i) const { return weighted_.empty() ? symbol_ : weighted_[i]; }
  bool several() const { return group_->num_contexts() > 1; }
  bool HasGrad(const std::string& arg) const;
  // The rows of context `i`; the whole array without a batch axis.
  absl::StatusOr<NDArray> Rows(const NDArray& whole, const DataDesc& desc, int i) const;

  // An array of a batch, as executors take it.
  struct Input {
    DataDesc desc;           // of the whole batch
    DType dtype;             // that it is bound with
    std::vector<int> slots;  // by executor; empty for a label that the graph does not use
    // By executor: arrays of this group's own where the batch's cannot be used as it is.
    std::vector<NDArray> staged;
    bool holds_values = false;  // whether anything has been copied to `staged`, else zeros
  };

  const Symbol symbol_;
  const ModuleOptions& options_;
  const std::vector<DataDesc> data_shapes_, label_shapes_;  // of whole batches
  const int64_t max_bytes_;
  const bool for_training_;
  ModuleGroup* const group_;
  std::set<std::string> arg_names_;
  std::vector<std::string> param_names_;
  std::vector<std::string> aux_names_;
  std::map<std::string, WriteReq> grad_reqs_;  // of every argument
  // The parameters with a gradient; empty if a backward pass may leave one incomplete: it
  // accumulates over batches, or a context without rows computes nothing.
  std::vector<std::string> complete_gradients_;
  std::vector<GroupContexts::Map> group2ctxs_;  // by context, or none
  std::vector<BatchSlice> slices_;
  KnownTypes label_types_;  // by name, where they follow from others'
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<Symbol> weighted_;                     // by context; empty: symbol_
  mutable std::vector<BatchLayout> output_layouts_;  // empty: not found yet
  std::vector<BatchLayout> state_layouts_;
  std::vector<Shape> output_shapes_;
  std::vector<Input> inputs_;  // data, then labels
  std::vector<NDArray> merged_outputs_;
  bool merged_ = false;                      // whether they are those of the last Forward
  std::vector<std::vector<NDArray>> heads_;  // by context
  bool monitored_ = false;
  int64_t generation_ = 0;  // of the arrays of Parameters that the executors have
  int64_t footprint_bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_DATA_PARALLEL_EXECUTOR_GROUP_H_
