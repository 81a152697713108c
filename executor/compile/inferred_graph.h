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

// The forward nodes, numbered as in `forward`, then the head gradients, then what computes the
// gradients: an order in which they can be run. Both graphs must outlive the result.
IndexedGraph WholeGraph(const IndexedGraph& forward, const GradientGraph& gradient);

// Shapes by entry of the whole graph of `symbol`, from those of its forward graph. The errors of
// InferEntryShapes.
absl::StatusOr<std::vector<PartialShape>> InferWholeShapes(
    const Symbol& symbol, const GradientGraph& gradient, const IndexedGraph& whole,
    std::vector<PartialShape> forward_shapes);

// A variable that a program is given an array for.
struct ProgramVariable {
  const Node* node = nullptr;  // it may have gone from the graph
  std::string name;
  Shape shape;
  DType dtype = DType::kFloat32;
};

struct InferredGraph {
  TypedGraph forward;
  GradientGraph gradient;
  std::unique_ptr<IndexedGraph> whole;  // WholeGraph
  std::vector<PartialShape> shapes;     // by entry of `whole`
  std::vector<std::optional<DType>> types;
  // By slot: in the order in which the symbol lists them, and behind its arguments the values that
  // passes have folded.
  std::vector<ProgramVariable> args;
  std::vector<ProgramVariable> auxs;
  std::vector<FoldedConstant> folded;
  std::vector<ProgramGradient> gradients;  // those asked for, as in `gradient`; not computed yet

  // The dtype of an entry of `whole`; float32 if it could not be inferred.
  DType type(int entry) const { return types[entry].value_or(DType::kFloat32); }
};

// Infers the symbol, runs the graph passes that `options` leaves, and adds the gradients. The
// errors are those of InferShape, InferType and MakeGradientGraph; kNotFound if grad_reqs names
// something that is no argument; kInvalidArgument, naming the argument, for a gradient of another
// shape or dtype.
absl::StatusOr<InferredGraph> InferGraph(const Symbol& symbol, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_INFERRED_GRAPH_H_
