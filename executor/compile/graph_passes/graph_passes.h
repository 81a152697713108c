#ifndef COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_GRAPH_PASSES_H_
#define COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_GRAPH_PASSES_H_

// The passes over symbols, by name.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/graph_passes/graph_facts.h"
#include "executor/compile/graph_passes/graph_pass.h"

namespace cooper {

struct GraphPass {
  const char* name;  // by which it can be left out
  // Nullopt if there is nothing to do. An error is a bug of the pass.
  absl::StatusOr<std::optional<GraphRewrite>> (*run)(const GraphFacts& facts,
                                                     const CanRunFn& can_run);
};

// All passes over symbols, in the order in which they are run.
const std::vector<GraphPass>& AllGraphPasses();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_GRAPH_PASSES_H_
