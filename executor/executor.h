#ifndef COOPER_EXECUTOR_EXECUTOR_H_
#define COOPER_EXECUTOR_EXECUTOR_H_

// A symbol bound to shapes, arrays and a device: it is compiled into a program, given memory, and
// run. An executor gives names to the slots of a BoundProgram (run/bound_program.h), and lets a
// monitor watch it. MXNet: python/mxnet/executor.py.
//
//   COOPER_ASSIGN_OR_RETURN(auto executor, Executor::SimpleBind(net,
//       {.shapes = {{"data", {32, 60}}, {"softmax_label", {32, 60}}}}));
//   COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
//   COOPER_RETURN_IF_ERROR(executor->Backward());
//   executor->grad("fc1_weight");
//
// Not thread-safe. A step allocates nothing once the first one has run.

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

class Executor {
 public:
  // Infers what is not given, allocates what is missing. Errors are CompiledProgram::Compile's;
  // kNotFound for an array whose name resembles one that has none (BindOptions::args);
  // kInvalidArgument if an array has another shape, dtype or context than the graph needs, or if an
  // argument's is in options.arena.
  // `compiled`, if not null, saves most of the time: what Compile has made of the same symbol and
  // options, or Resize of that. Arrays may have come since then; where they differ from what was
  // inferred, it is of no use and the symbol is compiled anew.
  static absl::StatusOr<std::unique_ptr<Executor>> SimpleBind(
      const Symbol& symbol, const BindOptions& options,
      std::shared_ptr<const CompiledProgram> compiled = nullptr);

  // The part of SimpleBind that looks at shapes and types alone and takes most of its time; of
  // `ahead`, as of SimpleBind's `compiled`, it returns what is of use. Unlike the rest it may run
  // on several threads at a time, also for symbols that share nodes.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const Symbol& symbol, const BindOptions& options,
      std::shared_ptr<const CompiledProgram> ahead = nullptr);

  // As SimpleBind, but every argument and auxiliary state must be given in `options.args` and
  // `options.auxs`, and gradients are computed only for names in `options.grads`.
  static absl::StatusOr<std::unique_ptr<Executor>> Bind(const Symbol& symbol, BindOptions options);

  // Binds what was compiled to arrays by slot, which are all there. BoundProgram::Bind says what
  // the arguments are and what may be wrong with them; the other ways to bind end here.
  static absl::StatusOr<std::unique_ptr<Executor>> Bind(
      std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
      std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random);

  ~Executor();

  // Makes `array` the argument's array from now on, without copying. The executor shares it: it
  // must not change between Forward and Backward. kNotFound for an unknown name; kInvalidArgument
  // if shape, dtype or context are not those of the argument, which stays as it was, or if the
  // executor Overwrites the array.
  absl::Status SetArg(absl::string_view name, const NDArray& array);
  // The same for arg_names()[slot]. kNotFound for a slot that there is not.
  absl::Status SetArg(int slot, const NDArray& array);
  // Whether a run of this executor writes to `array`, as one of its inputs must not be: in an arena
  // that it computes in, as outputs are, or where it writes a gradient.
  bool Overwrites(const NDArray& array) const;

  // Whether output `i` is computed where SetOutput says: with BindOptions::unbound_outputs, unless
  // it is an argument, a part of another array, or in one place with another output.
  bool TakesOutput(int i) const;
  // Makes `array` the place of output `i`, which TakesOutput, from now on; the executor shares it,
  // and it must not change between Forward and Backward: after another array Backward asks for a
  // Forward. A null array takes it away again: until there is another one, Forward makes an array
  // of its own. While there is a monitor, what was written as another output may lie in the arena
  // all the same. kInvalidArgument if shape, dtype or context are not those of the output.
  absl::Status SetOutput(int i, const NDArray& array);

  // Computes the outputs from the arguments. kFailedPrecondition, naming it, if an argument has no
  // array, or one in which an output is to be computed, or for training if an auxiliary state is a
  // constant (BindOptions::constants).
  absl::Status Forward(bool is_train);

  // Computes the gradients of the arguments from the last Forward, which must have been a training
  // one, and which one Backward uses up. `head_gradients` has one array per output, shaped like it;
  // it may be empty if every output is a loss. kFailedPrecondition without a Forward, if another
  // executor has used the arena since, or if a needed head gradient is missing (its name is in the
  // message). Where no argument has a gradient (all are fixed, or integers, or were bound with
  // WriteReq::kNull), it does nothing, whatever it is given, as in MXNet.
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {});

  // Forward in training and Backward, with the errors of both and the same results. On a GPU a
  // Forward or Backward that has the arrays of the one before is recorded, and put in as a whole
  // from then on (ndarray/array/device_graphs.h); this makes one piece of work of the two, and of
  // what comes after them (run/after_backward.h), unless that is null.
  absl::Status ForwardBackward(absl::Span<const NDArray> head_gradients = {},
                               const AfterBackward* after = nullptr);

  // The same, which calls `on_grad` for an argument with a gradient as soon as all that makes it is
  // in `queue`, while the rest still is to come: in the order of the program, on this thread, and
  // whose error this returns at the end. Not for all: nothing is told while there is a monitor, or
  // was at the last Forward, nor of what a CPU computes tile by tile. A GPU does not record such a
  // pass.
  using GradCallback = absl::FunctionRef<absl::Status(const std::string& name, DeviceQueue& queue)>;
  absl::Status Backward(absl::Span<const NDArray> head_gradients, GradCallback on_grad);

  // The outputs of the last Forward: valid until another executor that shares the arena runs; copy
  // what has to last longer, or see SetOutput. kFailedPrecondition before Forward, once another has
  // run, and between a training Forward and Backward if Backward computes an output
  // (LabelProbabilities). Of an output whose rows are counted (OpSchema::counts_rows) it has those
  // that there are, where output_shapes() says the most there can be.
  absl::StatusOr<absl::Span<const NDArray>> outputs() const;
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<Shape>& output_shapes() const { return output_shapes_; }

  const std::vector<std::string>& arg_names() const { return compiled_->program().arg_names; }
  // Shapes and dtypes in that order.
  const std::vector<Shape>& arg_shapes() const { return compiled_->arg_shapes(); }
  const std::vector<DType>& arg_types() const { return compiled_->arg_types(); }
  // Other than context() only with group2ctx.
  const std::vector<Context>& arg_contexts() const { return compiled_->arg_contexts(); }
  const std::vector<std::string>& aux_names() const { return compiled_->program().aux_names; }
  // The names of arrays that BindOptions gave and the graph does not have, sorted.
  const std::vector<std::string>& unused_names() const { return unused_names_; }
  // The names of the arguments whose gradients are computed, in the order of arg_names().
  const std::vector<std::string>& grad_names() const { return grad_names_; }
  // By name. The gradients hold those that are computed.
  const ArrayMap& arg_dict() const { return args_; }
  const ArrayMap& grad_dict() const { return grads_; }
  const ArrayMap& aux_dict() const { return auxs_; }
  // A null array if there is no such name.
  NDArray arg(absl::string_view name) const { return FindArray(args_, name); }
  NDArray grad(absl::string_view name) const { return FindArray(grads_, name); }
  NDArray aux(absl::string_view name) const { return FindArray(auxs_, name); }

  // Copies into the arguments and auxiliary states, converting dtypes. kNotFound for an unknown
  // name unless allow_extra; kInvalidArgument for another shape, and for constants.
  absl::Status CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs = {},
                              bool allow_extra = false);

  // A new executor for other input shapes, which shares arena, random state and every array whose
  // shape stays. Where no shape grows it shares the memory plan too and nothing is compiled.
  // Without `partial_shaping`, an argument that is not in `shapes` must keep its shape; without
  // `allow_up_sizing`, none may grow (kInvalidArgument, naming it).
  absl::StatusOr<std::unique_ptr<Executor>> Reshape(const KnownShapes& shapes,
                                                    bool partial_shaping = false,
                                                    bool allow_up_sizing = false) const;

  // Called after each operator with each of its outputs ("fc1_output"), and with `monitor_all` also
  // before it with its inputs ("fc1_data"). In Backward outputs are gradients
  // ("fc1_backward_data"), and inputs "fc1_backward_input_data". An empty function ends it.
  // While there is a callback, the graph runs as it was written, without what passes that put nodes
  // together make of it: slower, and equal to rounding. The next Forward compiles that once, with
  // SimpleBind's errors.
  using MonitorCallback = std::function<void(const std::string& name, const NDArray& array)>;
  void SetMonitorCallback(MonitorCallback callback, bool monitor_all = false);

  const Symbol& symbol() const { return compiled_->symbol(); }
  // The program that runs while there is no monitor.
  const std::shared_ptr<const CompiledProgram>& compiled() const { return compiled_; }
  Context context() const { return compiled_->options().context; }
  MemoryReport memory() const;
  // How many passes (inference, training, backward, the last two at once) are recorded, and are put
  // in as a whole if they have the same arrays again and there is no monitor. On CPUs none.
  int num_recorded() const;
  // The program as text, one instruction a line: operator, inputs, outputs with offsets.
  std::string DebugString() const;

 private:
  explicit Executor(std::unique_ptr<BoundProgram> merged);

  // Fails for constants.
  absl::Status CheckReplaceable(const std::string& name) const;
  // Makes run_ the program that the monitor, or its absence, asks for.
  absl::Status SelectProgram();
  // The options that Reshape begins with: those that this is bound with.
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
  const std::unique_ptr<BoundProgram> merged_;  // with what passes have put together
  std::unique_ptr<BoundProgram> plain_;         // as written; null until it is needed
  BoundProgram* run_;                           // one of the two: that of the last Forward
  // Null without a monitor. A run holds it, since a callback may set another one.
  std::shared_ptr<const ProgramObserver> observer_;
  std::vector<std::vector<int>> grads_done_;  // GradsDoneAfter of merged_, once it was needed
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_EXECUTOR_H_
