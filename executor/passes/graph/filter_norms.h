#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_

// What passes that take a BatchNorm into the filters before it have in common.

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/passes/graph/graph_facts.h"
#include "symbol/schema/node.h"

namespace cooper {

// Whether node `i` is a BatchNorm of float32 over axis 1 whose statistics nobody asks for.
bool NormalizesChannels(const GraphFacts& facts, int i);

// A weight, and its bias, null if there is none.
struct Filters {
  NodeEntry weight, bias;
};

// Those that do in prediction what `filters` and a BatchNorm do. `norm` are its gamma, beta and
// moving statistics; `attrs` have its eps and fix_gamma, where they are given.
absl::StatusOr<Filters> FoldBatchNorm(const std::string& name, const Filters& filters,
                                      absl::Span<const NodeEntry> norm, const AttrMap& attrs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FILTER_NORMS_H_
