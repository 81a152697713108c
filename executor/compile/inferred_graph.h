#ifndef COOPER_EXECUTOR_COMPILE_INFERRED_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_INFERRED_GRAPH_H_

// The first stage of lowering: a forward graph, as graph passes leave it, and the graph of its
// gradients as one, with the shape and dtype of every value. Placing comes next (placed_graph.h).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/compile_options.h"
#include "executor/compile/typed_graph.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/program/program.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns the graph of a forward and a backward pass. Its order of nodes is an order of execution:
// the forward nodes, numbered as in `forward`, then the head gradients, then the nodes that compute
// the gradients. Both graphs must outlive the result.
IndexedGraph WholeGraph(const IndexedGraph& forward, const GradientGraph& gradient);

// Returns the shapes of all entries of `whole`, given those of the forward entries. The errors are
// those of InferEntryShapes.
absl::StatusOr<std::vector<PartialShape>> InferWholeShapes(
    const Symbol& symbol, const GradientGraph& gradient, const IndexedGraph& whole,
    std::vector<PartialShape> forward_shapes);

// A variable for which the caller of a program passes an array.
struct ProgramVariable {
  const Node* node = nullptr;  // passes may have removed it from the graph
  std::string name;
  Shape shape;
  DType dtype = DType::kFloat32;
};

// The result of InferGraph: the forward and the gradient graph with the shape and dtype of each
// entry. Entries of `whole` index shapes and types.
struct InferredGraph {
  TypedGraph forward;
  GradientGraph gradient;
  std::unique_ptr<IndexedGraph> whole;  // WholeGraph
  std::vector<PartialShape> shapes;     // by entry of `whole`
  std::vector<std::optional<DType>> types;
  std::vector<bool> counted;  // FindCountedEntries
  // By slot: the arguments of the symbol in its order, then the values that passes have folded.
  // `auxs` has its auxiliary states.
  std::vector<ProgramVariable> args;
  std::vector<ProgramVariable> auxs;
  std::vector<FoldedConstant> folded;
  // One for each requested gradient. `value` is set when the program is emitted.
  std::vector<ProgramGradient> gradients;

  // Returns the dtype of an entry of `whole`; float32 if it could not be inferred.
  DType type(int entry) const { return types[entry].value_or(DType::kFloat32); }
};

// Infers shapes and types, runs the graph passes that `options` does not disable, and adds the
// gradient graph. Thread-safe.
//
// Errors: those of InferShape, InferType and MakeGradientGraph; kNotFound if grad_reqs names
// something that is no argument; kInvalidArgument, naming the argument, if a gradient has another
// shape or dtype than its argument.
absl::StatusOr<InferredGraph> InferGraph(const Symbol& symbol, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_INFERRED_GRAPH_H_
