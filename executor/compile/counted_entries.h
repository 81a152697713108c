#ifndef COOPER_EXECUTOR_COMPILE_COUNTED_ENTRIES_H_
#define COOPER_EXECUTOR_COMPILE_COUNTED_ENTRIES_H_

// Finds the entries of a graph whose shapes depend on the values of arrays
// (symbol/schema/counted_shapes.h). A program is planned for their largest shapes; a run infers the
// true ones (executor/run/true_shapes.h).

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns, by entry of `graph`, whether its shape is counted: the shape rules cannot tell it if the
// shapes that kernels count are unknown. `graph` has the nodes of `symbol` and of `gradient`, which
// may be empty; `largest` has the shapes of all entries.
std::vector<bool> FindCountedEntries(const IndexedGraph& graph, const Symbol& symbol,
                                     const GradientGraph& gradient,
                                     const std::vector<PartialShape>& largest);

// Returns the first input of the node whose shape is counted; -1 if there is none.
int CountedInput(const IndexedGraph& graph, const std::vector<bool>& counted, const Node& node);

// Returns the error kUnimplemented "FullyConnected 'fc': the shape of its input 'data',
// _contrib_boolean_mask 'mask', depends on values" + `why`, for an input of a node.
absl::Status CountedInputError(const Node& node, int input, absl::string_view why);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_COUNTED_ENTRIES_H_
