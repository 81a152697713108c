#ifndef COOPER_EXECUTOR_COMPILE_LOWER_H_
#define COOPER_EXECUTOR_COMPILE_LOWER_H_

// Makes a program of a graph: adds the gradient graph and lists what has to be computed in an order
// in which it can be.

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/compile_options.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/program/program.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Every value has a buffer of its own; passes share them. Instructions of no use to outputs and
// gradients are left out; an output that nobody reads has the request kNull.
struct LoweredProgram {
  Program program;
  std::vector<Shape> arg_shapes;  // by slot
  std::vector<DType> arg_types;
  std::vector<Context> arg_contexts;
  std::vector<Shape> aux_shapes;
  std::vector<DType> aux_types;
  std::vector<Context> aux_contexts;
  // Values that were computed from constants when passes had done: the last arguments, in order.
  std::vector<FoldedConstant> folded;
  // TypedGraph::entry_of_written, for `symbol`. Null unless a graph pass found something to do.
  std::shared_ptr<const std::vector<int>> entry_of_written;
  // The graph that the program computes: the symbol after the graph passes, and its gradients.
  Symbol symbol;
  GradientGraph gradient;

  bool rewritten() const { return entry_of_written != nullptr; }
};

// Errors are those of InferShape, InferType and MakeGradientGraph; kNotFound if grad_reqs names
// something that is no argument.
absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_LOWER_H_
