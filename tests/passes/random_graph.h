#ifndef COOPER_TESTS_PASSES_RANDOM_GRAPH_H_
#define COOPER_TESTS_PASSES_RANDOM_GRAPH_H_

// Small graphs of what passes look for and of what only looks like it: recurrent layers in all
// their forms, classifiers, chains of element-wise and shape operators, values that are used many
// times, inner values as outputs.

#include <cstdint>
#include <map>
#include <string>

#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "symbol/infer_shape.h"
#include "symbol/infer_type.h"
#include "symbol/symbol.h"

namespace cooper {

struct RandomGraph {
  Symbol symbol;
  DType dtype = DType::kFloat64;  // of all arguments
  KnownShapes shapes;             // enough to infer all others
  KnownTypes types;
  std::map<std::string, WriteReq> grad_reqs;  // of every argument
  // Arguments whose elements are numbers of classes or words, and how many there are of those.
  std::map<std::string, int64_t> classes;
};

// Equal seeds give equal graphs. Values stay of order 1. Graphs of float32 have no operator whose
// gradient jumps where rounding may decide (relu, maximum).
RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_GRAPH_H_
