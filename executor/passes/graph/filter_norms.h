#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_

// Folds a BatchNorm into the filters before it, for several passes.

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/passes/graph/graph_facts.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns whether node `i` is a float32 BatchNorm over axis 1 whose statistics are not used.
bool NormalizesChannels(const GraphFacts& facts, int i);

// A weight and its bias, which is null if there is none.
struct Filters {
  NodeEntry weight, bias;
};

// Returns filters that compute in prediction what `filters` followed by a BatchNorm compute. `norm`
// are its gamma, beta, moving mean and moving variance; `attrs` may have its eps and fix_gamma.
// Nodes are named after `name`. Each filter is scaled by gamma / sqrt(var + eps), and its bias is
// moved by the mean; results differ from those of the two operators by rounding only.
absl::StatusOr<Filters> FoldBatchNorm(const std::string& name, const Filters& filters,
                                      absl::Span<const NodeEntry> norm, const AttrMap& attrs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_
