#ifndef COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_RANDOM_RULES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_RANDOM_RULES_H_

// The compositions of NumPy's random operators that have no kernels.

#include "absl/types/span.h"
#include "executor/passes/graph/numpy_composition.h"

namespace cooper::numpy_composition {

// Returns the rules of the operators that transform uniform or gamma distributed numbers. The
// transforms are those of MXNet's src/operator/numpy/random.
absl::Span<const Rule> RandomRules();

}  // namespace cooper::numpy_composition

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_RANDOM_RULES_H_
