#ifndef COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_
#define COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_

// Builds small graphs that contain the patterns of passes and similar ones: recurrent layers in all
// forms, classifiers, chains of element-wise and shape operators, values with many uses, inner
// values as outputs.

#include <cstdint>

#include "tests/passes/random_graph.h"

namespace cooper {

// Returns a random graph; equal seeds give equal graphs. Values stay of order 1. float32 graphs
// have no operator whose gradient is discontinuous (relu, maximum), where rounding could decide.
RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_MAKE_RANDOM_GRAPH_H_
