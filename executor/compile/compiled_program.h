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
#include "absl/types/span.h"
#include "executor/compile/compile_options.h"
#include "executor/compile/lower.h"
#include "executor/plan/arena_layout.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Immutable and thread-safe; shared by std::shared_ptr. Its memory is that of the instructions and
// kernel states: arrays are added when a BoundProgram is made.
class CompiledProgram {
 public:
  // The kernel of an instruction and its prepared state. `run` is null for views and for copies
  // between contexts.
  struct Step {
    Kernel::RunFn run = nullptr;
    Prepared prepared;
  };

  // Infers shapes and types, runs the passes, adds the gradients, prepares the kernels and plans
  // the memory. Thread-safe, also for symbols that share nodes. Takes time, but allocates no
  // arrays.
  //
  // Errors: those of InferShape and InferType; kNotFound if a gradient or a shape is requested for
  // a name that is not an argument; kInvalidArgument for an unknown pass; kUnimplemented if an
  // operator has no kernel for its context, dtypes or parameters.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(
      const Symbol& symbol, const CompileOptions& options);

  // Returns this program for other shapes of arguments: the same instructions and the same plan, in
  // which no value may need more bytes than are planned. Shapes that were given to Compile and are
  // missing in `shapes` stay. Shapes are inferred and kernels are prepared again, which takes a
  // fraction of Compile's time. Thread-safe.
  //
  // Errors: kInvalidArgument, naming the node, if the graph does not allow the shapes, if passes
  // would build another program for them, or if a value would need more memory or another layout.
  absl::StatusOr<std::shared_ptr<const CompiledProgram>> Resize(const KnownShapes& shapes) const;

  // Returns whether compiling `symbol` with `options` would give this program. `options` may leave
  // out shapes and types that follow from others, or add them.
  bool IsFor(const Symbol& symbol, const CompileOptions& options) const;

  // Return what was passed to Compile.
  const Symbol& symbol() const { return written_; }
  const CompileOptions& options() const { return options_; }
  // Return the graph that the instructions compute: the symbol after the graph passes, and its
  // gradients.
  const Symbol& lowered_symbol() const { return lowered_.symbol; }
  const GradientGraph& gradient() const { return lowered_.gradient; }
  // Returns the instructions, values and buffers.
  const Program& program() const { return lowered_.program; }
  // Shapes, dtypes and contexts of arguments and auxiliary states, by slot: in the order of
  // program().arg_names and aux_names.
  const std::vector<Shape>& arg_shapes() const { return lowered_.arg_shapes; }
  const std::vector<DType>& arg_types() const { return lowered_.arg_types; }
  const std::vector<Context>& arg_contexts() const { return lowered_.arg_contexts; }
  // Values that depend on CompileOptions::constants alone. Whoever binds the program computes them
  // and passes them as its last arguments, after those of the symbol (FoldedArrays).
  const std::vector<FoldedConstant>& folded() const { return lowered_.folded; }
  const std::vector<Shape>& aux_shapes() const { return lowered_.aux_shapes; }
  const std::vector<DType>& aux_types() const { return lowered_.aux_types; }
  const std::vector<Context>& aux_contexts() const { return lowered_.aux_contexts; }

  // Returns the number of forward instructions, which come before the backward ones.
  int num_forward() const { return num_forward_; }
  // Returns the prepared kernel of an instruction.
  const Step& step(int instruction) const { return steps_[instruction]; }
  // Prepares the kernel of an instruction for arrays of other shapes. Their data is not read. Fails
  // with kUnimplemented, naming the node, if the kernel does not support them. Thread-safe.
  absl::StatusOr<Prepared> PrepareFor(int instruction, absl::Span<const ArrayView> inputs,
                                      absl::Span<const ArrayView> outputs) const;
  // Return the chains of element-wise instructions, and the places of buffers in the arenas.
  const TilePlan& tiles() const { return tiles_; }
  const ArenaLayout& layout() const { return *layout_; }

  // Returns whether passes have merged nodes, so that some nodes of the written symbol are not
  // computed on their own and a monitor cannot see them.
  bool merges_nodes() const { return merges_nodes_; }
  // Returns the index of an output that Backward computes instead of Forward when training
  // (Instruction::computed_by_gradient); -1 if there is none.
  int output_of_backward() const { return output_of_backward_; }
  // Returns whether the gradients of the symbol as written depend on the head gradient of output
  // `i`. The program may differ: a node that a pass made of several time steps reads one array for
  // the head gradients of all steps, even if only some steps need theirs. Fails as
  // MakeGradientGraph does. Thread-safe.
  absl::StatusOr<bool> NeedsHeadGradient(int i) const;

 private:
  CompiledProgram(const Symbol& written, CompileOptions options, LoweredProgram lowered);

  // Prepares the kernels for the shapes of the program.
  absl::Status PrepareKernels();
  // Returns the scratch bytes of each instruction.
  std::vector<int64_t> WorkspaceBytes() const;
  // Sets output_of_backward_.
  void FindOutputOfBackward();

  const Symbol written_;
  const CompileOptions options_;
  LoweredProgram lowered_;
  int num_forward_ = 0;
  bool merges_nodes_ = false;
  int output_of_backward_ = -1;
  int threads_;  // for which tiles are planned
  std::vector<Step> steps_;
  TilePlan tiles_;
  std::shared_ptr<const ArenaLayout> layout_;
  std::shared_ptr<const TilePlan> planned_tiles_;  // that the layout was made for
  std::vector<Shape> planned_args_;                // by slot: the arguments' shapes of the layout
  // The results of NeedsHeadGradient by output, computed by its first call.
  mutable std::once_flag needed_heads_once_;
  mutable absl::StatusOr<std::vector<bool>> needed_heads_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_COMPILED_PROGRAM_H_
