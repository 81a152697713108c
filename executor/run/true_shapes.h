#ifndef COOPER_EXECUTOR_RUN_TRUE_SHAPES_H_
#define COOPER_EXECUTOR_RUN_TRUE_SHAPES_H_

// The shapes of a run that depend on the values of arrays. A program is planned for the largest
// shapes (ProgramValue::counted); each value then lies densely, in its true shape, at the beginning
// of its memory. When a kernel has counted the shapes of its outputs
// (symbol/schema/counted_shapes.h), the shape rules give those of the instructions behind it, and
// kernels whose shapes differ from those of the previous run are prepared again.

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/compile/compiled_program.h"
#include "executor/program/kernel.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {

// Not thread-safe. Takes time linear in the instructions with counted values, which is some
// microseconds for each, and allocates where shapes change.
class TrueShapes {
 public:
  // Returns null if no value of the program is counted. `compiled` must outlive the result.
  static std::unique_ptr<TrueShapes> Create(const CompiledProgram& compiled);

  // Forgets the shapes of the last run. Must be called before a forward pass.
  void Forget();

  // Gives the views of an instruction, which is about to run, their shapes, and prepares its kernel
  // if they have changed. `context` gets the kernel's state and, if the planned workspace is too
  // small, another one. Does nothing for an instruction without counted values.
  //
  // Errors: those of the shape rule, naming the node, for instance if two arrays that should have
  // one shape have not; kInvalidArgument, naming the node, if a shape needs more memory than is
  // planned or an array that is not counted would have another shape; those of
  // CompiledProgram::PrepareFor.
  absl::Status Prepare(int instruction, absl::Span<ArrayView> inputs, absl::Span<ArrayView> outputs,
                       KernelContext& context);

  // Takes over the shapes that an instruction, which has run, has counted. Does nothing for others.
  void Read(int instruction, absl::Span<const ArrayView> outputs);

  // Returns the shape of a value; the largest if this run has not found it yet.
  Shape ShapeOf(int value) const;

 private:
  explicit TrueShapes(const CompiledProgram& compiled);

  // The state of an instruction.
  struct Step {
    int node = -1;         // of the graph; -1 if a program pass has inserted it
    bool counted = false;  // has counted values
    bool stale = false;    // the kernel must be prepared for the shapes of its views
    Prepared prepared;
    NDArray workspace;  // null if the planned one is large enough
  };

  // Infers the shapes of all nodes up to and without node `end` that depend on counted shapes.
  absl::Status InferTo(int end);
  // Gives `view` the shape of a value. Sets *changed if the view had another shape.
  absl::Status SetShape(const Instruction& instruction, int value, ArrayView& view,
                        bool* changed) const;

  const CompiledProgram& compiled_;
  const IndexedGraph graph_;          // forward and backward
  std::vector<PartialShape> shapes_;  // by entry; unknown ones are found in the run
  std::vector<bool> depends_;         // by node: whether its shapes depend on counted ones
  std::vector<int> output_of_head_;   // by node: the output's entry for a head gradient, or -1
  std::vector<int> entries_;          // by value
  std::vector<Step> steps_;           // by instruction
  int next_ = 0;                      // the first node whose shapes are not inferred yet
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_TRUE_SHAPES_H_
