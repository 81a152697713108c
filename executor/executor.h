#ifndef COOPER_EXECUTOR_EXECUTOR_H_
#define COOPER_EXECUTOR_EXECUTOR_H_

// Binds a symbol to shapes, arrays and a device: compiles it into a program, gives it memory, and
// runs it. An executor gives names to the slots of a BoundProgram (run/bound_program.h) and lets a
// monitor watch it. MXNet: python/mxnet/executor.py.
//
//   COOPER_ASSIGN_OR_RETURN(auto executor, Executor::SimpleBind(net,
//       {.shapes = {{"data", {32, 60}}, {"softmax_label", {32, 60}}}}));
//   COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
//   COOPER_RETURN_IF_ERROR(executor->Backward());
//   executor->grad("fc1_weight");
//
// Not thread-safe. A training or inference step allocates nothing after the first one.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/compile/compiled_program.h"
#include "executor/compile/passes.h"
#include "executor/run/after_backward.h"
#include "executor/run/arena.h"
#include "executor/run/bind_options.h"
#include "executor/run/memory_report.h"
#include "executor/run/random_state.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

class BoundProgram;      // run/bound_program.h
struct ProgramArrays;    // run/program_arrays.h
struct ProgramObserver;  // run/program_steps.h

// An executor owns a BoundProgram and shares its arrays with the caller: arguments, gradients and
// outputs are handles to the memory that the program works on, so a write to an argument is read by
// the next Forward.
class Executor {
 public:
  // Returns an executor for `symbol`. Infers the shapes and types, and allocates the arrays, that
  // `options` does not give.
  //
  // `compiled`, if not null, is the result of Compile for the same symbol and options, or a Resize
  // of it; reusing it saves most of the time. If arrays in `options` contradict what it inferred,
  // it is ignored and the symbol is compiled again.
  //
  // Errors: those of CompiledProgram::Compile; kNotFound for an array whose name resembles an
  // argument that has no array (BindOptions::args); kInvalidArgument if an array has another shape,
  // dtype or context than the graph needs, or if an argument lies in options.arena;
  // kResourceExhausted if the memory exceeds options.max_bytes or is not there.
  static absl::StatusOr<std::unique_ptr<Executor>> SimpleBind(
      const Symbol& symbol, const BindOptions& options,
      std::shared_ptr<const CompiledProgram> compiled = nullptr);

  // Does the part of SimpleBind that needs only shapes and types and takes most of its time.
  // Returns `ahead` if it fits, and compiles `symbol` otherwise. Thread-safe, also for symbols that
  // share nodes, unlike the rest of the binding.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const Symbol& symbol, const BindOptions& options,
      std::shared_ptr<const CompiledProgram> ahead = nullptr);

  // Binds like SimpleBind, but every argument and auxiliary state must be in `options.args` and
  // `options.auxs` (kInvalidArgument, naming the missing one), and gradients are computed only for
  // names in `options.grads`.
  static absl::StatusOr<std::unique_ptr<Executor>> Bind(const Symbol& symbol, BindOptions options);

  // Binds a compiled program to arrays by slot, including those of folded constants. The arguments
  // and errors are those of BoundProgram::Bind. The other ways to bind end here.
  static absl::StatusOr<std::unique_ptr<Executor>> Bind(
      std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
      std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random);

  ~Executor();

  // Makes `array` the array of an argument from now on, without copying. The executor shares it:
  // its elements must not change between Forward and Backward. If this fails, the argument keeps
  // its array.
  //
  // Errors: kNotFound for an unknown name; kInvalidArgument if shape, dtype or context are not
  // those of the argument, if Overwrites(array), or if the argument is a constant.
  absl::Status SetArg(absl::string_view name, const NDArray& array);
  // Makes `array` the array of argument arg_names()[slot]. Unlike a name, a slot needs no search.
  // kNotFound if there is no such slot; other errors as for a name.
  absl::Status SetArg(int slot, const NDArray& array);
  // Returns whether a run of this executor writes to the memory of `array`: in an arena, as outputs
  // are, or in the array of a gradient. Inputs must not lie there.
  bool Overwrites(const NDArray& array) const;

  // Returns whether SetOutput can set the array of output `i`: true with
  // BindOptions::unbound_outputs, unless the output is an argument, a part of another array, or in
  // the memory of another output.
  bool TakesOutput(int i) const;
  // Makes `array` the array in which output `i` is computed from now on. The executor shares it:
  // its elements must not change between Forward and Backward. After this call Backward needs a new
  // Forward. With a null array, Forward allocates one itself until another is set. While there is a
  // monitor, outputs may lie in the arena regardless.
  //
  // Errors: kInvalidArgument unless TakesOutput(i), for another shape, dtype or context than the
  // output's, and for an array in an arena, of an auxiliary state, or where a gradient is written.
  absl::Status SetOutput(int i, const NDArray& array);

  // Computes the outputs from the arguments. On a GPU it returns before the work is done.
  //
  // Errors: kFailedPrecondition, naming the array, if an argument has no array or lies where an
  // output is computed, if two outputs would be computed in one array, or, for training, if an
  // auxiliary state is a constant (BindOptions::constants).
  absl::Status Forward(bool is_train);

  // Computes the gradients of the arguments from the last Forward, which must have been for
  // training; each Forward serves one Backward. `head_gradients` has one array per output, of the
  // output's shape, or is empty if every output is a loss. If no argument has a gradient (all are
  // fixed, integers, or bound with WriteReq::kNull), it ignores its arguments and does nothing, as
  // MXNet.
  //
  // Errors: kFailedPrecondition without a Forward, if another executor has used the arena since, or
  // if a needed head gradient is missing (the message names the output); kInvalidArgument if a head
  // gradient has another shape, dtype or context, or lies where a gradient is written.
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {});

  // Runs Forward(true), Backward, and `after` if it is not null (run/after_backward.h), with the
  // errors and the results of both. On a GPU, Forward and Backward are recorded if they run again
  // with the same arrays, and then launched as a whole (ndarray/array/device_graphs.h); this
  // function makes one recording of everything, which saves launches. If the shape of an output
  // depends on values, the three run one after the other, because it is that of a head gradient.
  absl::Status ForwardBackward(absl::Span<const NDArray> head_gradients = {},
                               const AfterBackward* after = nullptr);

  // Runs Backward and calls on_grad(name, queue) for an argument once all work that computes its
  // gradient is in `queue`, while other gradients are still to come. Calls come from this thread,
  // in the order of the program; the first error of on_grad is returned at the end. There are no
  // calls while there is a monitor, or if there was one in the last Forward, and none for gradients
  // that a CPU computes tile by tile. On a GPU this pass is not recorded.
  using GradCallback = absl::FunctionRef<absl::Status(const std::string& name, DeviceQueue& queue)>;
  absl::Status Backward(absl::Span<const NDArray> head_gradients, GradCallback on_grad);

  // Returns the outputs of the last Forward. They are valid until another executor that shares the
  // arena runs: copy results that must live longer, or see SetOutput. An output whose shape depends
  // on values has that of this run; output_shapes() has the largest.
  //
  // Errors: kFailedPrecondition before Forward, after another executor used the arena, and between
  // a training Forward and Backward if Backward computes an output (LabelProbabilities).
  absl::StatusOr<absl::Span<const NDArray>> outputs() const;
  // Names, shapes and dtypes. They are references to members, valid as long as the executor. Those
  // of arguments and auxiliary states are in the order of the symbol's lists.
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<Shape>& output_shapes() const { return output_shapes_; }

  const std::vector<std::string>& arg_names() const { return compiled_->program().arg_names; }
  // Indexed like arg_names().
  const std::vector<Shape>& arg_shapes() const { return compiled_->arg_shapes(); }
  const std::vector<DType>& arg_types() const { return compiled_->arg_types(); }
  // Indexed like arg_names(). All are context() without group2ctx.
  const std::vector<Context>& arg_contexts() const { return compiled_->arg_contexts(); }
  const std::vector<std::string>& aux_names() const { return compiled_->program().aux_names; }
  // Returns the sorted names of arrays that BindOptions had for names that the graph does not have.
  const std::vector<std::string>& unused_names() const { return unused_names_; }
  // The names of the arguments whose gradients are computed, in the order of arg_names().
  const std::vector<std::string>& grad_names() const { return grad_names_; }
  // Arrays by name. grad_dict() has only arguments whose gradients are computed.
  const ArrayMap& arg_dict() const { return args_; }
  const ArrayMap& grad_dict() const { return grads_; }
  const ArrayMap& aux_dict() const { return auxs_; }
  // Return a null array if there is no array of this name.
  NDArray arg(absl::string_view name) const { return FindArray(args_, name); }
  NDArray grad(absl::string_view name) const { return FindArray(grads_, name); }
  NDArray aux(absl::string_view name) const { return FindArray(auxs_, name); }

  // Copies elements into the arrays of arguments and auxiliary states, and converts dtypes.
  // kNotFound for an unknown name unless allow_extra; kInvalidArgument for another shape and for
  // constants.
  absl::Status CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs = {},
                              bool allow_extra = false);

  // Returns a new executor for other input shapes, which shares the arena, the random state, and
  // every array whose shape stays. If no shape grows it also shares the memory plan, and nothing is
  // compiled. Without `partial_shaping`, an argument that is not in `shapes` must keep its shape;
  // without `allow_up_sizing`, none may grow (kInvalidArgument, naming the argument).
  absl::StatusOr<std::unique_ptr<Executor>> Reshape(const KnownShapes& shapes,
                                                    bool partial_shaping = false,
                                                    bool allow_up_sizing = false) const;

  // Sets a function that is called after each operator with each of its outputs ("fc1_output"), and
  // with `monitor_all` also before it with its inputs ("fc1_data"). In Backward, outputs are
  // gradients ("fc1_backward_data"), and inputs have names such as "fc1_backward_input_data". An
  // empty function removes the monitor. While there is a callback, the graph runs as written,
  // without passes that merge nodes: slower, with results equal up to rounding. The next Forward
  // compiles that program once, with SimpleBind's errors.
  using MonitorCallback = std::function<void(const std::string& name, const NDArray& array)>;
  void SetMonitorCallback(MonitorCallback callback, bool monitor_all = false);

  // Returns the symbol as it was bound, before passes.
  const Symbol& symbol() const { return compiled_->symbol(); }
  // Returns the program that runs while there is no monitor.
  const std::shared_ptr<const CompiledProgram>& compiled() const { return compiled_; }
  // Returns the context of all nodes that group2ctx does not place.
  Context context() const { return compiled_->options().context; }
  // Returns the planned and allocated bytes of the arenas.
  MemoryReport memory() const;
  // Returns how many of the four kinds of passes (inference, training, backward, and a whole
  // training step) are recorded. A recorded pass is launched as a whole if it has the same arrays
  // again and there is no monitor. 0 on CPUs.
  int num_recorded() const;
  // Returns the program as text, one instruction per line: operator, inputs, and outputs with
  // offsets.
  std::string DebugString() const;

 private:
  explicit Executor(std::unique_ptr<BoundProgram> merged);

  // Returns an error if the argument or auxiliary state `name` is a constant.
  absl::Status CheckReplaceable(const std::string& name) const;
  // Points run_ at plain_ if there is a monitor and passes have merged nodes, at merged_ otherwise.
  absl::Status SelectProgram();
  // Returns the options of this binding with its arrays: what Reshape starts from.
  BindOptions BoundOptions() const;

  const std::shared_ptr<const CompiledProgram> compiled_;
  ArrayMap args_, grads_, auxs_;
  std::vector<std::string> grad_names_;
  std::vector<std::string> output_names_;
  std::vector<Shape> output_shapes_;
  std::string constant_state_;  // an auxiliary state among the constants; empty if there is none
  std::vector<std::string> unused_names_;
  // For Reshape: arguments that had no array when this was bound, and SimpleBind's options.
  std::set<std::string> unbound_args_;
  std::shared_ptr<FoldedArrays> folded_;
  int64_t max_bytes_ = BindOptions().max_bytes;

  // A monitor must see the nodes of the graph as written. If passes have merged nodes, a second
  // program over the same arrays and arenas, compiled without those passes, runs while there is a
  // monitor.
  const std::unique_ptr<BoundProgram> merged_;  // with nodes that passes have merged
  std::unique_ptr<BoundProgram> plain_;         // as written; null until it is needed
  BoundProgram* run_;                           // one of the two: the program of the last Forward
  // Null without a monitor. A run holds it, since a callback may set another one.
  std::shared_ptr<const ProgramObserver> observer_;
  std::vector<std::vector<int>> grads_done_;  // GradsDoneAfter of merged_, once it was needed
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_EXECUTOR_H_
