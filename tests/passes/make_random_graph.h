#ifndef COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_
#define COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_

// Small graphs of what passes look for and of what only looks like it: recurrent layers in all
// their forms, classifiers, chains of element-wise and shape operators, values that are used many
// times, inner values as outputs.

#include <cstdint>

#include "tests/passes/random_graph.h"

namespace cooper {

// Equal seeds give equal graphs. Values stay of order 1. Graphs of float32 have no operator whose
// gradient jumps where rounding may decide (relu, maximum).
RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_
