#ifndef COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_

// The forward graph on its way to a program: with the shape and dtype of every value, as it was
// written and then as graph passes have rewritten it.

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

struct TypedGraph {
  Symbol written;
  Symbol symbol;                        // the same, or what passes have made of it
  std::unique_ptr<IndexedGraph> graph;  // of `symbol`
  // By entry. Complete, but that what nothing says the type of has none: it is float32.
  std::vector<PartialShape> shapes;
  std::vector<std::optional<DType>> types;
  // By entry of `written`: the entry of `graph` that has its value, of the same shape and dtype; -1
  // where none has.
  std::vector<int> entry_of_written;
  // Position in `written`, of its nodes and of their copies.
  absl::flat_hash_map<const Node*, int> ids;
  std::vector<GraphRewrite> rewrites;  // in their order; they keep the nodes of `ids` alive
};

// The graph of `symbol` as it is written. The errors of InferShape and InferType; kNotFound if
// options.shapes or options.types name something that is no variable.
absl::StatusOr<TypedGraph> InferTypedGraph(const Symbol& symbol, const CompileOptions& options);

// Runs the graph passes that `options` leaves, for a device on which they find the kernels that
// they need. An error names the pass: it is a bug of it.
absl::Status RunGraphPasses(const CompileOptions& options, TypedGraph& typed);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_TYPED_GRAPH_H_
