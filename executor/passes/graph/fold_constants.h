#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Puts an argument in the place of each value that follows from constants alone and that something
// else uses, so that it is computed once rather than in every run. Values that are nothing but
// views of a constant stay as they are, and so do outputs of the graph, what takes more than a
// thousand characters to describe, and what an operator without a kernel there is part of, which
// CompileOptions::fallback runs elsewhere. Takes time in proportion to the graph.
absl::StatusOr<std::optional<GraphRewrite>> FoldConstants(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_
