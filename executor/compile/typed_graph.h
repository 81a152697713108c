#ifndef COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_

// The forward graph with the shape and dtype of every value: as written, and as graph passes
// rewrite it.

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compile_options.h"
#include "executor/passes/graph/graph_pass.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A forward graph that graph passes may have rewritten. Entries of `graph` index shapes and types.
struct TypedGraph {
  Symbol written;
  Symbol symbol;                        // `written`, or its rewritten form after passes
  std::unique_ptr<IndexedGraph> graph;  // of `symbol`
  // By entry. All shapes are complete. A type is missing if nothing determines it; it then counts
  // as float32.
  std::vector<PartialShape> shapes;
  std::vector<std::optional<DType>> types;
  // By entry of `written`: the entry of `graph` with the same value, shape and dtype; -1 if there
  // is none.
  std::vector<int> entry_of_written;
  // `written` with control flow and projections replaced, before graph passes.
  Symbol expanded;
  // The position in `written` of each of its nodes; nodes that replace control flow and projections
  // get the numbers after them. A copy that a pass made has the position of its original.
  absl::flat_hash_map<const Node*, int> ids;
  std::vector<GraphRewrite> rewrites;  // in their order; they keep the nodes of `ids` alive
};

// Returns the graph of `symbol` as written, but for control flow and RNN with projections, which
// are replaced. The errors are those of InferShape, InferType and ExpandControlFlow; kNotFound if
// options.shapes or options.types name something that is no variable.
absl::StatusOr<TypedGraph> InferTypedGraph(const Symbol& symbol, const CompileOptions& options);

// Runs the graph passes that `options` does not disable; none if a node reads an array whose shape
// depends on values. A pass inserts only operators that have a kernel for options.context. An error
// is a bug of a pass, which its message names.
absl::Status RunGraphPasses(const CompileOptions& options, TypedGraph& typed);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_
