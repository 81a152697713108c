#ifndef COOPER_EXECUTOR_EXECUTOR_H_
#define COOPER_EXECUTOR_EXECUTOR_H_

// A symbol bound to shapes, arrays and a device: it is compiled into a program, given memory, and
// run. MXNet: python/mxnet/executor.py.
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
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/kernel.h"
#include "executor/run/arena.h"
#include "ndarray/context.h"
#include "ndarray/dtype.h"
#include "ndarray/ndarray.h"
#include "ndarray/partial_shape.h"
#include "symbol/infer_shape.h"
#include "symbol/infer_type.h"
#include "symbol/symbol.h"

namespace cooper {

// Arrays by the name of the argument or auxiliary state.
using ArrayMap = std::map<std::string, NDArray>;

// What random operators draw from. Executors that share one continue each other's stream.
struct RandomState {
  uint64_t seed = 0;
  uint64_t runs = 0;  // forward runs so far, over all executors that share it
  // Which of several devices draws: those that work on parts of one batch draw different numbers.
  uint64_t replica = 0;
};

struct BindOptions {
  Context context = Context::Cpu();
  // Where the nodes of a `ctx_group` are placed, with their gradients; the others follow them or
  // are on `context` (placement.h). Values are copied to where they are used.
  std::map<std::string, Context> group2ctx;
  KnownShapes shapes;  // of data and labels; the others follow
  KnownTypes types;
  // Of every argument, and of single ones. kNull: no gradient is computed.
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs;
  // Arrays to use; what is missing is allocated, filled with zeros. Their shapes and types count as
  // known. The caller's handles and the executor's share the elements.
  ArrayMap args;
  ArrayMap grads;
  ArrayMap auxs;
  // Arguments that get no array here: SetArg gives them one before Forward. Batches are then read
  // where they are, without a copy.
  std::set<std::string> unbound_args;
  // Where activations live; null: an arena of its own.
  std::shared_ptr<Arena> arena;
  // Likewise on the contexts of group2ctx; those that are missing are made.
  std::map<Context, std::shared_ptr<Arena>> group_arenas;
  // Null: seed 0.
  std::shared_ptr<RandomState> random;
  // Passes to leave out, of those that PassNames() gives.
  std::set<std::string> disabled_passes;
};

// The passes that can be left out, in the order in which they are run (docs/passes.md).
std::vector<std::string> PassNames();

// What a bound executor takes of its arenas, together.
struct MemoryReport {
  int64_t planned_bytes = 0;  // size of this executor's plan
  int64_t lower_bound = 0;    // no plan can need less
  int64_t arena_bytes = 0;    // size of the arena, which others may share
  int64_t values = 0;         // buffers placed in it
};

class Executor {
 public:
  // A symbol as a program that has no arrays yet, for one executor.
  struct Lowered;

  // Infers what is not given, allocates what is missing. Errors are InferShape's and InferType's;
  // kInvalidArgument if an array has another shape, dtype or context than the graph needs;
  // kUnimplemented if there is no kernel for an operator on the context. `lowered`, if not null, is
  // what Lower has made of the same symbol and options, and is used up. Arrays may have come since
  // then; where they differ from what was inferred, it is of no use and the symbol is lowered anew.
  static absl::StatusOr<std::unique_ptr<Executor>> SimpleBind(
      const Symbol& symbol, const BindOptions& options, std::shared_ptr<Lowered> lowered = nullptr);

  // The part of SimpleBind that looks at shapes and types alone and takes most of its time:
  // inference, passes, the gradient graph, the program. Unlike the rest it may run on several
  // threads at a time, also for symbols that share nodes. The errors are SimpleBind's.
  static absl::StatusOr<std::shared_ptr<Lowered>> Lower(const Symbol& symbol,
                                                        const BindOptions& options);

  // As SimpleBind, but every argument and auxiliary state must be given in `options.args` and
  // `options.auxs`, and gradients are computed only for names in `options.grads`.
  static absl::StatusOr<std::unique_ptr<Executor>> Bind(const Symbol& symbol, BindOptions options);

  ~Executor();

  // Makes `array` the argument's array from now on, without copying. The executor shares it: it
  // must not change between Forward and Backward. kNotFound for an unknown name; kInvalidArgument
  // if shape, dtype or context are not those of the argument, which stays as it was.
  absl::Status SetArg(absl::string_view name, const NDArray& array);

  // Computes the outputs from the arguments. kFailedPrecondition, naming it, if an argument has no
  // array.
  absl::Status Forward(bool is_train);

  // Computes the gradients of the arguments from the last Forward, which must have been a training
  // one, and which one Backward uses up. `head_gradients` has one array per output, shaped like it;
  // it may be empty if every output is a loss. kFailedPrecondition without a Forward, if another
  // executor has used the arena since, or if a needed head gradient is missing (its name is in the
  // message).
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {});

  // The outputs of the last Forward, in the arena: valid until another executor that shares it
  // runs; copy what has to last longer. kFailedPrecondition before Forward, once another has run,
  // and between a training Forward and Backward if Backward computes an output
  // (LabelProbabilities).
  absl::StatusOr<absl::Span<const NDArray>> outputs() const;
  const std::vector<std::string>& output_names() const;
  const std::vector<Shape>& output_shapes() const;

  const std::vector<std::string>& arg_names() const;
  // Shapes and dtypes in that order.
  const std::vector<Shape>& arg_shapes() const;
  const std::vector<DType>& arg_types() const;
  // Other than context() only with group2ctx.
  const std::vector<Context>& arg_contexts() const;
  const std::vector<std::string>& aux_names() const;
  // Of the arguments whose gradients are computed, in the order of arg_names().
  const std::vector<std::string>& grad_names() const;
  // By name. The gradients hold those that are computed.
  const ArrayMap& arg_dict() const;
  const ArrayMap& grad_dict() const;
  const ArrayMap& aux_dict() const;
  // A null array if there is no such name.
  NDArray arg(absl::string_view name) const;
  NDArray grad(absl::string_view name) const;
  NDArray aux(absl::string_view name) const;

  // Copies into the arguments and auxiliary states, converting dtypes. kNotFound for an unknown
  // name unless allow_extra; kInvalidArgument for another shape.
  absl::Status CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs = {},
                              bool allow_extra = false);

  // A new executor for other input shapes, which shares arena, random state and every array whose
  // shape stays. Without `partial_shaping`, an argument that is not in `shapes` must keep its
  // shape; without `allow_up_sizing`, none may grow (kInvalidArgument, naming it).
  absl::StatusOr<std::unique_ptr<Executor>> Reshape(const KnownShapes& shapes,
                                                    bool partial_shaping = false,
                                                    bool allow_up_sizing = false) const;

  // Called after each operator with each of its outputs ("fc1_output"), and with `monitor_all` also
  // before it with its inputs ("fc1_data"). In Backward outputs are gradients
  // ("fc1_backward_data"), and inputs "fc1_backward_input_data". An empty function ends it.
  // While there is a callback, the graph runs as it was written, without what passes that put nodes
  // together make of it: slower, and equal to rounding. The next Forward binds it anew, with
  // SimpleBind's errors.
  using MonitorCallback = std::function<void(const std::string& name, const NDArray& array)>;
  void SetMonitorCallback(MonitorCallback callback, bool monitor_all = false);

  const Symbol& symbol() const;
  Context context() const;
  MemoryReport memory() const;
  // The program as text, one instruction a line: operator, inputs, outputs with offsets.
  std::string DebugString() const;

 private:
  class Impl;
  explicit Executor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_EXECUTOR_H_
