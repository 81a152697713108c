#ifndef COOPER_TESTS_PASSES_RANDOM_GRAPH_H_
#define COOPER_TESTS_PASSES_RANDOM_GRAPH_H_

// A graph and the options to bind it.

#include <cstdint>
#include <map>
#include <string>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

struct RandomGraph {
  Symbol symbol;
  DType dtype = DType::kFloat64;  // of all arguments
  KnownShapes shapes;             // enough to infer all others
  KnownTypes types;
  std::map<std::string, WriteReq> grad_reqs;  // of every argument
  // Arguments whose elements are class or word ids, and the number of classes.
  std::map<std::string, int64_t> classes;
};

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_GRAPH_H_
