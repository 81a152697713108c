#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Replaces each value that depends on constants only, and that another node uses, by an argument,
// so that it is computed once rather than in every run. The exceptions are views of a constant,
// outputs of the graph, values whose description exceeds 1,024 characters, and values that
// involve an operator without a kernel, which CompileOptions::fallback runs elsewhere. Takes time
// linear in the size of the graph. Returns nullopt if there is nothing to fold, and for graphs with
// gradients.
absl::StatusOr<std::optional<GraphRewrite>> FoldConstants(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FOLD_CONSTANTS_H_
