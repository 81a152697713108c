#ifndef COOPER_EXECUTOR_COMPILE_COMPILED_PROGRAM_H_
#define COOPER_EXECUTOR_COMPILE_COMPILED_PROGRAM_H_

// A symbol compiled for shapes, dtypes and devices: its instructions, their kernels, and where in
// memory everything lies. It holds no array and never changes, so that any number of runs
// (executor/run), on any threads, share one.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/compile_options.h"
#include "executor/compile/lower.h"
#include "executor/plan/arena_layout.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

class CompiledProgram {
 public:
  // An instruction's kernel, ready to be run. Null for views and copies between contexts.
  struct Step {
    Kernel::RunFn run = nullptr;
    Prepared prepared;
  };

  // Infers shapes and types, runs the passes, adds the gradients, prepares the kernels and plans
  // the memory. Thread-safe, also for symbols that share nodes. Errors are InferShape's and
  // InferType's; kNotFound for a gradient or shape of something that is no argument,
  // kInvalidArgument for an unknown pass, kUnimplemented where an operator has no kernel for its
  // context, dtypes or parameters.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const Symbol& symbol, const CompileOptions& options);

  // The same program for other shapes of arguments, none of whose values may grow: with the same
  // instructions in the same places of the same plan. Shapes that were given when the program was
  // compiled, and are not now, stay as they were. Nothing is compiled: shapes are inferred and
  // kernels prepared anew, in a fraction of Compile's time. kInvalidArgument, naming the node, if
  // the graph does not allow the shapes, if passes would have made something else of it, or if
  // something would need more room than is planned or would lie in another way.
  absl::StatusOr<std::shared_ptr<const CompiledProgram>> Resize(const KnownShapes& shapes) const;

  // Whether compiling `symbol` with these options, which may leave out or add shapes and types that
  // follow from others, would give the same.
  bool IsFor(const Symbol& symbol, const CompileOptions& options) const;

  const Symbol& symbol() const { return written_; }
  const CompileOptions& options() const { return options_; }
  const Program& program() const { return lowered_.program; }
  // By slot.
  const std::vector<Shape>& arg_shapes() const { return lowered_.arg_shapes; }
  const std::vector<DType>& arg_types() const { return lowered_.arg_types; }
  const std::vector<Context>& arg_contexts() const { return lowered_.arg_contexts; }
  // Values that follow from CompileOptions::constants alone, and that runs are given: the last
  // arguments, behind those of the symbol.
  const std::vector<FoldedConstant>& folded() const { return lowered_.folded; }
  const std::vector<Shape>& aux_shapes() const { return lowered_.aux_shapes; }
  const std::vector<DType>& aux_types() const { return lowered_.aux_types; }
  const std::vector<Context>& aux_contexts() const { return lowered_.aux_contexts; }

  // The forward instructions come first.
  int num_forward() const { return num_forward_; }
  const Step& step(int instruction) const { return steps_[instruction]; }
  const TilePlan& tiles() const { return tiles_; }
  const ArenaLayout& layout() const { return *layout_; }

  // Whether passes have put nodes together, so that not each is computed as it was written.
  bool merges_nodes() const { return merges_nodes_; }
  // An output that a training run's backward pass computes; -1 if there is none.
  int output_of_backward() const { return output_of_backward_; }
  // Whether the gradients of the graph as it was written take the head gradient of output `i`: what
  // passes make of several steps may take one where only some of the steps did.
  absl::StatusOr<bool> NeedsHeadGradient(int i) const;

 private:
  CompiledProgram(const Symbol& written, CompileOptions options, LoweredProgram lowered);

  // Prepares the kernels for the shapes of the program.
  absl::Status PrepareKernels();
  std::vector<int64_t> WorkspaceBytes() const;
  void FindOutputOfBackward();

  const Symbol written_;
  const CompileOptions options_;
  LoweredProgram lowered_;
  int num_forward_ = 0;
  bool merges_nodes_ = false;
  int output_of_backward_ = -1;
  int threads_;  // that tiles are planned for
  std::vector<Step> steps_;
  TilePlan tiles_;
  std::shared_ptr<const ArenaLayout> layout_;
  std::shared_ptr<const TilePlan> planned_tiles_;  // that the layout was made for
  std::vector<Shape> planned_args_;  // the arguments' shapes that the layout was made for, by slot
  // The results of NeedsHeadGradient by output, computed by its first call.
  mutable std::once_flag needed_heads_once_;
  mutable absl::StatusOr<std::vector<bool>> needed_heads_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_COMPILED_PROGRAM_H_
