#ifndef COOPER_EXECUTOR_COMPILE_PLACEMENT_H_
#define COOPER_EXECUTOR_COMPILE_PLACEMENT_H_

// Finds the context on which each node of a graph runs, if `ctx_group` attributes place parts of
// it. MXNet: src/nnvm/pass/place_device.cc.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ndarray/base/context.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {

// The contexts of a graph's nodes.
struct Placement {
  std::vector<Context> contexts;  // the default one first, each once
  std::vector<int> of_node;       // index into contexts, by node of the graph
};

// Places every node of `graph`:
//
//   - A node whose group is in `group2ctx` runs there, and so do the nodes of its gradient.
//   - Other nodes run where their first placed input is.
//   - A variable, or a node without placed inputs, goes where its first reader is.
//   - The rest goes to the default context.
Placement PlaceNodes(const IndexedGraph& graph, const std::map<std::string, Context>& group2ctx,
                     Context default_context);

// Moves to cpu(0) each node i for which can_run(i, its context) is false. Variables that no other
// node reads move with it. So do its auxiliary states, because it may write them.
void MoveToCpu(const IndexedGraph& graph, const std::function<bool(int, Context)>& can_run,
               Placement* placement);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PLACEMENT_H_
