#ifndef COOPER_EXECUTOR_COMPILE_PLACEMENT_H_
#define COOPER_EXECUTOR_COMPILE_PLACEMENT_H_

// Which context each node of a graph runs on, where parts of it are placed by their `ctx_group`
// attribute. MXNet: src/nnvm/pass/place_device.cc.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ndarray/base/context.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {

struct Placement {
  std::vector<Context> contexts;  // the default one first, each once
  std::vector<int> of_node;       // index into contexts, by node of the graph
};

// A node whose group is in `group2ctx` runs there, and the nodes of its gradient with it. One
// without goes where the first of its inputs that is placed is, a variable or a node with no such
// input where its first reader is, and what is left to the default context.
Placement PlaceNodes(const IndexedGraph& graph, const std::map<std::string, Context>& group2ctx,
                     Context default_context);

// Moves to cpu(0) each node, by index, that cannot run on its context; and with it variables that
// no other node reads, and auxiliary states, which it may write.
void MoveToCpu(const IndexedGraph& graph, const std::function<bool(int, Context)>& can_run,
               Placement* placement);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PLACEMENT_H_
